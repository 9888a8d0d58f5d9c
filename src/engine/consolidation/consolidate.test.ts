import { describe, expect, it } from 'vitest';
import type { BoundPod, InstanceType, Offering, PodGroup, Resources } from '../problem.ts';
import { aPod, aPool, aType, GIB, HOSTNAME, INSTANCE_TYPE, onDemand, oneOf, ZONE } from '../testkit/builders.ts';
import { aFleet, aFleetNode, aFleetPod } from '../testkit/fleet-builder.ts';
import { applyMoves } from './apply-plan.ts';
import { consolidate, consolidateSteps } from './consolidate.ts';
import type { Fleet } from './fleet.ts';
import { apart, causes, fullNode, gone, large, MEDIUM, plan, small } from './testkit/planned.ts';

describe('a new node', () => {
  it('falls back on on-demand, also where pods on other nodes are spread over on-demand nodes only', () => {
    const capacity = { cpu: 1000, memory: 4 * GIB, pods: 10 };
    const spot = { zone: 'a', capacityType: 'spot' as const, price: 0.3 };
    const type = aType({ name: 'tiny', capacity, offerings: [spot, ...onDemand(0.5, 'a')] });
    const app = { app: 'web' };
    const rule = { topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const };
    const spread = aPod({
      labels: app,
      requirements: [[oneOf('karpenter.sh/capacity-type', 'on-demand')]],
      topologySpread: [{ ...rule, selector: { matchLabels: app } }],
    });
    const fleet = aFleet({
      groups: [aPod(), spread],
      nodes: [fullNode('dear'), fullNode('cheap', { price: 0.5, instanceType: 'tiny' })],
      pods: [aFleetPod('any', 'dear'), aFleetPod('web', 'cheap', { group: 1 })],
      instanceTypes: [type],
    });
    const { moves } = plan(fleet);
    expect(moves.map(({ nodes }) => nodes)).toEqual([['dear']]);
    expect(moves[0]?.newNodes[0]?.offerings.map(({ capacityType }) => capacityType)).toEqual(['spot', 'on-demand']);
  });
});

describe('consolidation', () => {
  it('deletes nodes on which nothing runs, as Empty', () => {
    const { moves } = plan(aFleet({ pods: [aFleetPod('p1', 'one')], nodes: [fullNode('one'), aFleetNode('two')] }));
    expect(moves).toMatchObject([{ kind: 'delete', reason: 'Empty', nodes: ['two'], savings: 1, landings: [] }]);
  });

  it('deletes a node whose pods fit on another, as Underutilized', () => {
    const { moves, priceBefore, priceAfter, evictions } = plan(aFleet());
    expect(moves).toHaveLength(1);
    expect(moves[0]).toMatchObject({ kind: 'delete', reason: 'Underutilized', savings: 1, disruptionCost: 2 });
    expect({ priceBefore, priceAfter, evictions }).toEqual({ priceBefore: 2, priceAfter: 1, evictions: 1 });
  });

  it('empties the node that is cheaper to empty, and keeps the one that is fuller', () => {
    const pods = ['p1', 'p2', 'p3'].map((name) => aFleetPod(name, 'two'));
    expect(
      gone(aFleet({ pods: [...pods, aFleetPod('p4', 'one')], nodes: [aFleetNode('one'), aFleetNode('two')] })),
    ).toEqual(['one']);
  });

  it('replaces a node by a cheaper one that is large enough', () => {
    const { moves } = plan(apart(1, { instanceTypes: [aType(), small] }));
    expect(moves).toMatchObject([
      { kind: 'replace', nodes: ['n0'], savings: 0.5, newNodes: [{ pool: 'default', price: 0.5 }] },
    ]);
    expect(moves[0]?.newNodes[0]?.offerings[0]).toMatchObject({ instanceType: 'small', zone: 'a', price: 0.5 });
  });

  it('says and asks for instance types as their nodes are labelled, where the problem has another name for them', () => {
    const renamed = { ...small, name: 'other:small', labels: { [INSTANCE_TYPE]: 'small' } };
    const groups = [{ ...aPod({ requests: { cpu: 1000 } }), requirements: [[oneOf(INSTANCE_TYPE, 'small', 'old')]] }];
    const node = { labels: { [INSTANCE_TYPE]: 'old' } };
    const { moves } = plan(apart(1, { groups, instanceTypes: [aType(), renamed] }, node));
    const [launched] = moves[0]?.newNodes ?? [];
    expect(moves[0]?.sentence).toMatch(/^replace node n0 by small on-demand in a:/);
    expect(launched?.requirements).toContainEqual({ key: INSTANCE_TYPE, operator: 'In', values: ['small'] });
    expect(launched?.offerings[0]?.instanceType).toBe('other:small');
  });

  it('merges several nodes into one', () => {
    const { moves, priceAfter } = plan(apart(4, { instanceTypes: [aType({ offerings: onDemand(1.2, 'a') })] }));
    expect(moves.map(({ kind }) => kind)).toEqual(['merge', 'delete', 'delete']);
    expect(moves[0]).toMatchObject({ nodes: ['n0', 'n1'], newNodes: [{ price: 1.2, pods: [0, 1, 2, 3] }] });
    expect(priceAfter).toBeCloseTo(1.2, 9);
  });

  it('splits a dear node into cheap ones', () => {
    const cheap = aType({
      name: 'cheap',
      capacity: { cpu: 2000, memory: 4 * GIB, pods: 4 },
      offerings: onDemand(0.3, 'a'),
    });
    const pods = ['p1', 'p2', 'p3', 'p4'].map((name) => aFleetPod(name, 'one'));
    const { moves } = plan(aFleet({ nodes: [aFleetNode('one', { price: 2 })], pods, instanceTypes: [aType(), cheap] }));
    expect(moves).toMatchObject([{ kind: 'split', savings: 1.4, newNodes: [{ price: 0.3 }, { price: 0.3 }] }]);
  });

  it('looks at the whole fleet: two of many nodes that only together are worth replacing are found', () => {
    const busy = Array.from({ length: 30 }, (_, index) => fullNode(`busy-${index}`, { price: 0.25, pool: 'default' }));
    const fleet = aFleet({
      nodes: [...busy, fullNode('x', { price: 0.4 }), fullNode('y', { price: 0.4 })],
      pods: [...busy.map(({ name }) => aFleetPod(`on-${name}`, name)), aFleetPod('px', 'x'), aFleetPod('py', 'y')],
      instanceTypes: [small],
    });
    expect(gone(fleet)).toEqual(['x', 'y']);
  });

  it('moves nothing twice: a pod lands where it will stay', () => {
    const fleet = apart(6, { instanceTypes: [large, small] });
    const { moves } = plan({
      ...fleet,
      nodes: fleet.nodes.map((node, index) => (index % 2 === 0 ? node : { ...node, allocatable: MEDIUM })),
    });
    const landed = moves.flatMap(({ landings }) => landings.map(({ pod }) => pod));
    expect(new Set(landed).size).toBe(landed.length);
    const left = new Set(moves.flatMap(({ nodes }) => nodes));
    for (const { landings } of moves)
      for (const landing of landings) if ('node' in landing) expect(left.has(landing.node)).toBe(false);
  });

  it('finds nothing more to do on the fleet that it leads to', () => {
    const fleet = apart(12, { instanceTypes: [aType({ offerings: onDemand(1.1, 'a') }), small, large] });
    const first = plan(fleet);
    expect(first.moves.length).toBeGreaterThan(0);
    expect(plan(applyMoves(fleet, first.moves)).moves).toEqual([]);
  });

  it('bounds the price from below by what cannot be avoided', () => {
    const { lowerBound, priceAfter } = plan(apart(8, { instanceTypes: [aType({ offerings: onDemand(1, 'a') })] }));
    expect(priceAfter).toBeCloseTo(2, 9);
    expect(lowerBound).toBeCloseTo(2, 6);
  });
});

describe('reservations', () => {
  const reserved = (price: number, slots: number, reservationId = 'r'): Offering => ({
    zone: 'a',
    capacityType: 'reserved',
    price,
    reservationId,
    slots,
  });

  it('are filled with what runs on demand, and not beyond their count', () => {
    const type = aType({
      capacity: { cpu: 1000, memory: 2 * GIB, pods: 1 },
      offerings: [...onDemand(1, 'a'), reserved(0.001, 2)],
    });
    const { moves } = plan(apart(3, { instanceTypes: [type] }));
    const launched = moves.flatMap(({ newNodes }) => newNodes.map(({ offerings }) => offerings[0]?.capacityType));
    expect(launched).toEqual(['reserved', 'reserved']);
  });

  it('are exchanged for smaller ones that do', () => {
    const big = aType({ offerings: [reserved(0.001, 0, 'big')] });
    const little = { ...small, offerings: [reserved(0.0005, 1, 'little')] };
    const node = aFleetNode('one', { capacityType: 'reserved', reservationId: 'big', price: 0.001 });
    const { moves } = plan(aFleet({ nodes: [node], pods: [aFleetPod('p', 'one')], instanceTypes: [big, little] }));
    expect(moves[0]?.newNodes[0]?.offerings[0]).toMatchObject({ reservationId: 'little' });
  });
});

describe('spot', () => {
  const types = (count: number): InstanceType[] =>
    Array.from({ length: count }, (_, index) =>
      aType({ name: `t${index}`, offerings: [{ zone: 'a', capacityType: 'spot', price: 0.2 + index / 100 }] }),
    );
  const fleet = (count: number): Fleet =>
    apart(1, { instanceTypes: types(count) }, { capacityType: 'spot', price: 0.6 });

  it('makes way for spot only when fifteen cheaper offerings would do', () => {
    expect(gone(fleet(15))).toEqual(['n0']);
    expect(causes(fleet(14))).toEqual({ n0: 'spot-diversity' });
    expect(gone(fleet(3), { spotDiversity: 3 })).toEqual(['n0']);
  });

  it('makes way for as many spot nodes only when as many offerings would do for each of them', () => {
    const tiny = { cpu: 1500, memory: 8 * GIB, pods: 10 };
    const pair = (count: number): Fleet => {
      const instanceTypes = types(count).map((type) => ({ ...type, capacity: tiny }));
      return apart(2, { instanceTypes }, { capacityType: 'spot', price: 0.6, allocatable: tiny });
    };
    expect(gone(pair(15))).toEqual(['n0', 'n1']);
    expect(causes(pair(14))).toEqual({ n0: 'spot-diversity', n1: 'spot-diversity' });
    expect(causes(pair(1))).toEqual({ n0: 'spot-diversity', n1: 'spot-diversity' });
  });

  it('makes way for fewer spot nodes whatever else would do', () => {
    expect(plan(apart(2, { instanceTypes: types(1) }, { capacityType: 'spot', price: 0.6 })).moves).toMatchObject([
      { kind: 'merge', nodes: ['n0', 'n1'], newNodes: { length: 1 } },
    ]);
  });

  it('makes way for one that has at most half of its CPU, memory and devices, whatever else would do', () => {
    const [type] = types(1);
    const room = (cpu: number, memory: number, gpus = 0) => {
      const gpu = gpus > 0 ? { 'nvidia.com/gpu': gpus } : {};
      return { cpu, memory: memory * GIB, pods: 10, ...gpu };
    };
    const onLarge = (cpu: number, memory: number, gpus = 0): Fleet => {
      const instanceTypes = [{ ...type, name: 'less', capacity: room(cpu, memory, gpus) } as InstanceType];
      const large = apart(
        1,
        { instanceTypes },
        { capacityType: 'spot', price: 0.6, allocatable: room(8000, 16, gpus) },
      );
      const asking = (requests: Resources): Resources => ({ ...requests, ...(gpus > 0 && { 'nvidia.com/gpu': 1 }) });
      return { ...large, groups: large.groups.map((group) => ({ ...group, requests: asking(group.requests) })) };
    };
    const halved = onLarge(4000, 8);
    expect(plan(halved).moves).toMatchObject([{ kind: 'replace', nodes: ['n0'], newNodes: { length: 1 } }]);
    expect(plan(applyMoves(halved, plan(halved).moves)).moves).toEqual([]);
    expect(causes(onLarge(4001, 8))).toEqual({ n0: 'spot-diversity' });
    expect(causes(onLarge(4000, 9))).toEqual({ n0: 'spot-diversity' });
    expect(causes(onLarge(4000, 8, 1))).toEqual({ n0: 'spot-diversity' });
  });

  it('is launched with fallbacks that all save enough', () => {
    const [move] = plan(fleet(40)).moves;
    const prices = move?.newNodes[0]?.offerings.map(({ price }) => price) ?? [];
    expect(prices.length).toBeGreaterThanOrEqual(15);
    expect(Math.max(...prices)).toBeLessThan(0.6 * 0.95 + 1e-9);
  });

  it('does not make way again', () => {
    const first = plan(fleet(40));
    expect(plan(applyMoves(fleet(40), first.moves)).moves).toEqual([]);
  });
});

describe('a wasteful node among full ones', () => {
  const big = { cpu: 16_000, memory: 32 * GIB, pods: 40 };
  const tiny = { cpu: 4000, memory: 8 * GIB, pods: 10 };
  const full = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
  const fleet = aFleet({
    groups: [aPod({ requests: { cpu: 1000, memory: 2 * GIB } })],
    nodes: [
      aFleetNode('wasteful', { instanceType: 'big', price: 4, allocatable: big }),
      ...full.map((name) => aFleetNode(name, { instanceType: 'tiny', allocatable: tiny })),
    ],
    pods: [
      ...['a', 'b', 'c'].map((name) => aFleetPod(name, 'wasteful')),
      ...full.flatMap((node) => [1, 2, 3, 4].map((number) => aFleetPod(`${node}-${number}`, node))),
    ],
    instanceTypes: [
      aType({ name: 'big', capacity: big, offerings: onDemand(4, 'a') }),
      aType({ name: 'tiny', capacity: tiny }),
      aType({ name: 'tiniest', capacity: { cpu: 2000, memory: 4 * GIB, pods: 10 }, offerings: onDemand(0.5, 'a') }),
    ],
  });

  it('makes way for a smaller one, instead of being filled with the pods of the full ones', () => {
    const { way, moves, evictions, priceAfter } = plan(fleet);
    expect(moves).toMatchObject([{ nodes: ['wasteful'] }]);
    expect({ way, evictions, priceAfter }).toEqual({ way: 'resized', evictions: 3, priceAfter: 7 });
  });

  it('is filled where nothing smaller can be had', () => {
    const instanceTypes = fleet.instanceTypes.filter(({ name }) => name === 'big');
    expect(gone({ ...fleet, instanceTypes })).toHaveLength(3);
  });
});

describe('a move that saves too little', () => {
  const cheaper = (price: number) => apart(1, { instanceTypes: [{ ...small, offerings: onDemand(price, 'a') }] });

  it('is not made', () => {
    expect(causes(cheaper(0.97))).toEqual({ n0: 'small-saving' });
    expect(gone(cheaper(0.94))).toEqual(['n0']);
    expect(causes(cheaper(0.94), { minSavingsShare: 0.1 })).toEqual({ n0: 'small-saving' });
    expect(causes(cheaper(0.5), { minSavings: 0.6 })).toEqual({ n0: 'small-saving' });
    expect(causes(cheaper(1))).toEqual({ n0: 'price' });
  });

  it('is not made when that is little for what it disrupts', () => {
    expect(gone(cheaper(0.5), { minSavingsPerDisruption: 0.25 })).toEqual(['n0']);
    expect(causes(cheaper(0.5), { minSavingsPerDisruption: 0.26 })).toEqual({ n0: 'small-saving' });
  });
});

describe('rules of pods', () => {
  const labels = { app: 'web' };
  const selector = { matchLabels: labels };
  const two = (group: Partial<PodGroup>, overrides: Partial<Fleet> = {}) =>
    aFleet({ groups: [aPod({ labels, ...group })], ...overrides });

  it('keep pods apart that must be apart', () => {
    expect(causes(two({ podAntiAffinity: [{ topologyKey: HOSTNAME, selector }] }))).toEqual({
      one: 'price',
      two: 'price',
    });
  });

  it('keep pods spread over zones', () => {
    const spread = two(
      { topologySpread: [{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', selector }] },
      {
        nodes: [aFleetNode('one'), aFleetNode('two', { zone: 'b' })],
        instanceTypes: [aType({ offerings: onDemand(1, 'a', 'b') })],
      },
    );
    expect(gone(spread)).toEqual([]);
  });

  it('keep a required neighbour where somebody needs it', () => {
    const fleet = aFleet({
      groups: [
        aPod({ labels: { app: 'db' } }),
        aPod({ podAffinity: [{ topologyKey: ZONE, selector: { matchLabels: { app: 'db' } } }] }),
      ],
      nodes: [
        aFleetNode('one'),
        fullNode('two', { hold: 'do-not-disrupt' }),
        aFleetNode('three', { zone: 'b', hold: 'nominated' }),
      ],
      pods: [aFleetPod('db', 'one'), aFleetPod('web', 'two', { group: 1 })],
      instanceTypes: [aType({ offerings: onDemand(1, 'a', 'b') })],
    });
    expect(gone(fleet)).toEqual([]);
    expect(gone({ ...fleet, pods: [aFleetPod('db', 'one')] })).toEqual(['one']);
  });

  it('look at pods that stay on their node until it is gone', () => {
    const agent = { namespace: 'default', labels: { app: 'agent' } };
    const term = { topologyKey: HOSTNAME, selector: { matchLabels: agent.labels } };
    const held = aFleetNode('one', { hold: 'do-not-disrupt' });
    const beside = (group: Partial<PodGroup>, on: Partial<BoundPod>) =>
      gone(
        two(group, {
          nodes: [held, aFleetNode('two')],
          pods: [aFleetPod('p', 'two')],
          boundPods: [{ ...agent, node: 'one', ...on }],
        }),
      );
    expect(beside({}, {})).toEqual(['two']);
    expect(beside({ podAntiAffinity: [term] }, {})).toEqual([]);
    expect(beside({}, { podAntiAffinity: [{ topologyKey: HOSTNAME, selector }] })).toEqual([]);
    expect(beside({ podAffinity: [term] }, {})).toEqual(['two']);
    expect(beside({ podAffinity: [term] }, { namespace: 'other' })).toEqual([]);
  });

  it('count those on a node that goes as long as others look for a place, and not afterwards', () => {
    const agent = { namespace: 'default', labels: { app: 'agent' }, node: 'two' };
    const term = { topologyKey: ZONE, selector: { matchLabels: agent.labels } };
    const nodes = [aFleetNode('one', { hold: 'do-not-disrupt' }), aFleetNode('two')];
    const moving = (group: Partial<PodGroup>) =>
      gone(two(group, { nodes, pods: [aFleetPod('p', 'two')], boundPods: [agent] }));
    expect(moving({})).toEqual(['two']);
    expect(moving({ podAntiAffinity: [term] })).toEqual([]);
    expect(moving({ podAffinity: [term] })).toEqual([]);
  });

  it('keep to the first of ordered alternatives if that is what a pod has', () => {
    const ordered = { ordered: true, requirements: [[oneOf('class', 'good')], [oneOf('class', 'poor')]] };
    const good = aFleetNode('one', { labels: { [ZONE]: 'a', class: 'good' } });
    const poor = aFleetNode('two', { labels: { [ZONE]: 'a', class: 'poor' }, hold: 'nominated' });
    expect(gone(two(ordered, { nodes: [good, poor], pods: [aFleetPod('p', 'one')] }))).toEqual([]);
    expect(
      gone(
        two(ordered, {
          nodes: [
            { ...poor, name: 'one', hold: 'nominated' },
            { ...good, name: 'two', labels: { [ZONE]: 'a', class: 'poor' } },
          ],
        }),
      ),
    ).toEqual(['two']);
  });

  it('lead back to an earlier one of ordered alternatives when that is sold again and pays, and to no other', () => {
    const ordered = { ordered: true, requirements: [[oneOf('class', 'good')], [oneOf('class', 'poor')]] };
    const poor = aFleetNode('one', { labels: { [ZONE]: 'a', class: 'poor' } });
    const spare = { ...poor, name: 'two', hold: 'nominated' as const };
    const fleet = two(ordered, { nodes: [poor, spare], pods: [aFleetPod('p', 'one')] });
    const selling = (price: number): Fleet => ({
      ...fleet,
      instanceTypes: fleet.instanceTypes.map((type) => ({
        ...type,
        labels: { ...type.labels, class: 'good' },
        offerings: type.offerings.map((offering) => ({ ...offering, price })),
      })),
    });
    // The other node, no better, has room for it. It is used only if nothing better is available.
    expect(
      gone({ ...fleet, instanceTypes: fleet.instanceTypes.map((type) => ({ ...type, labels: { class: 'bad' } })) }),
    ).toEqual(['one']);
    expect(gone(selling(1000))).toEqual([]);
    expect(gone(selling(0.001))).toEqual(['one']);
  });

  it('launch nothing for a node that has only just come, which may go all the same if there is room', () => {
    const settling = apart(1, { instanceTypes: [small] }, { settling: true });
    expect(gone({ ...settling, nodes: settling.nodes.map(({ settling: _, ...node }) => node) })).toEqual(['n0']);
    expect(gone(settling)).toEqual([]);
    const nodes = [aFleetNode('one', { hold: 'nominated' }), aFleetNode('two', { settling: true })];
    expect(gone(aFleet({ nodes }))).toEqual(['two']);
  });

  it('let nothing land on a node that is closed', () => {
    expect(gone(aFleet({ nodes: [aFleetNode('one', { closed: true, hold: 'leaving' }), aFleetNode('two')] }))).toEqual(
      [],
    );
  });
});

describe('limits of a pool', () => {
  it('hold while old and new nodes run side by side', () => {
    const pool = (cpu: number) => [aPool({ limits: { cpu }, usage: { cpu: 4000 } })];
    const fleet = (cpu: number) => apart(1, { instanceTypes: [aType(), small], pools: pool(cpu) });
    expect(gone(fleet(6000))).toEqual(['n0']);
    expect(causes(fleet(5000))).toEqual({ n0: 'no-place' });
  });
});

describe('planning', () => {
  const fleet = apart(20, { instanceTypes: [aType({ offerings: onDemand(1.1, 'a') }), small, large] });

  it('gives the same answer in slices as at once', () => {
    const slices = consolidateSteps(fleet);
    let slice = slices.next();
    while (slice.done !== true) slice = slices.next();
    expect(slice.value).toEqual(consolidate(fleet));
  });

  it('stops when its steps are used up, with a plan that is right as far as it goes', () => {
    const cut = plan(fleet, { maxSteps: 1 });
    expect(cut.priceAfter).toBeGreaterThanOrEqual(plan(fleet).priceAfter);
  });

  it.each([
    ['a pod on a node that is not there', { pods: [aFleetPod('p', 'nowhere')] }, 'pod p: node is nowhere'],
    ['a pod of no group', { pods: [aFleetPod('p', 'one', { group: 7 })] }, 'pod p: group is 7'],
    [
      'a price that is no number',
      { nodes: [aFleetNode('one', { price: Number.NaN })], pods: [] },
      'node one: price is NaN',
    ],
    ['two nodes of one name', { nodes: [aFleetNode('one'), aFleetNode('one')], pods: [] }, 'node one: name'],
    [
      'a budget that is negative',
      { disruptionBudgets: [{ name: 'b', allowed: -1 }] },
      'PodDisruptionBudget b: allowed is -1',
    ],
  ] as [string, Partial<Fleet>, string][])('refuses %s', (_, overrides, sentence) => {
    expect(() => consolidate(aFleet(overrides))).toThrow(sentence);
  });
});
