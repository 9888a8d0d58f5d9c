import { describe, expect, it } from 'vitest';
import type { ConsolidationOptions, Fleet, FleetNode } from '../consolidation/fleet.ts';
import type { ConsolidationPlan } from '../consolidation/plan.ts';
import type { Offering } from '../problem.ts';
import { aPod, aPool, aType, GIB, HOSTNAME, onDemand, oneOf, ZONE } from '../testkit/builders.ts';
import { aConsolidation, aFleet, aFleetNode, aFleetPod, type StatedMove } from '../testkit/fleet-builder.ts';
import { verifyConsolidation } from './verify-consolidation.ts';
import type { Rule } from './violation.ts';

function broken(
  fleet: Fleet,
  moves: readonly StatedMove[],
  overrides: Partial<ConsolidationPlan> = {},
  options: ConsolidationOptions = {},
): Rule[] {
  const violations = verifyConsolidation(fleet, aConsolidation(fleet, moves, overrides), options);
  return [...new Set(violations.map(({ rule }) => rule))];
}

/** Moves the second node's pod to the first node. */
const drain: StatedMove = { nodes: ['two'], landings: { p2: 'one' } };
const small = aType({
  name: 'small',
  capacity: { cpu: 2000, memory: 4 * GIB, pods: 10 },
  offerings: onDemand(0.5, 'a'),
});
const bothToSmall: StatedMove = {
  nodes: ['one', 'two'],
  landings: { p1: 0, p2: 0 },
  buy: [{ buy: ['small/a/on-demand'] }],
};

describe('a move', () => {
  it('may put pods on the nodes that stay, or on new ones', () => {
    expect(broken(aFleet(), [drain])).toEqual([]);
    expect(broken(aFleet({ instanceTypes: [aType(), small] }), [bothToSmall])).toEqual([]);
    expect(broken(aFleet(), [])).toEqual([]);
  });

  it('may put pods on a new node of an earlier move, never of a later one', () => {
    const fleet = aFleet({ instanceTypes: [aType(), small] });
    const first: StatedMove = { nodes: ['one'], landings: { p1: 0 }, buy: [{ buy: ['small/a/on-demand'] }] };
    expect(broken(fleet, [first, { nodes: ['two'], landings: { p2: [0, 0] } }])).toEqual([]);
    expect(broken(fleet, [{ nodes: ['two'], landings: { p2: [1, 0] } }, first])).toContain('landings');
    const large = { ...fleet, groups: [aPod({ requests: { cpu: 1001 } })] };
    expect(broken(large, [first, { nodes: ['two'], landings: { p2: [0, 0] } }])).toEqual(['resources']);
  });

  it('finds a place for each pod of the nodes that go, once', () => {
    expect(broken(aFleet(), [{ nodes: ['two'], landings: {}, reason: 'Underutilized' }])).toContain('landings');
    expect(broken(aFleet(), [{ nodes: ['two'], landings: { p2: 'one', p1: 'one' } }])).toContain('landings');
    expect(broken(aFleet(), [{ nodes: ['two'], landings: { p2: 'two' } }])).toContain('landings');
    expect(broken(aFleet(), [{ nodes: ['two'], landings: { p2: 0 } }])).toContain('landings');
    expect(broken(aFleet(), [drain], { evictions: 2 })).toEqual(['landings']);
  });

  it('puts nothing on a node that is closed', () => {
    expect(broken(aFleet({ nodes: [aFleetNode('one', { closed: true }), aFleetNode('two')] }), [drain])).toEqual([
      'landings',
    ]);
  });

  it('ends each node once', () => {
    expect(broken(aFleet(), [drain, drain])).toContain('untouchable');
    expect(broken(aFleet(), [{ nodes: ['three'], landings: {} }])).toContain('untouchable');
  });

  it('needs room beside the pods that are there, and those that came before', () => {
    const large = aFleet({ groups: [aPod({ requests: { cpu: 2001 } })] });
    expect(broken(large, [drain])).toEqual(['resources']);
    const three = aFleet({
      nodes: [aFleetNode('one'), aFleetNode('two'), aFleetNode('three')],
      groups: [aPod({ requests: { cpu: 2000 } })],
      pods: [aFleetPod('p1', 'one'), aFleetPod('p2', 'two'), aFleetPod('p3', 'three')],
    });
    expect(broken(three, [drain])).toEqual([]);
    expect(broken(three, [drain, { nodes: ['three'], landings: { p3: 'one' } }])).toEqual(['resources']);
  });

  it('obeys the rules of nodes for pods that arrive', () => {
    const taints = [{ key: 'k', effect: 'NoSchedule' as const }];
    expect(broken(aFleet({ nodes: [aFleetNode('one', { taints }), aFleetNode('two')] }), [drain])).toEqual(['taints']);
    expect(broken(aFleet({ groups: [aPod({ requirements: [[oneOf(ZONE, 'b')]] })] }), [drain])).toEqual([
      'requirements',
    ]);
    expect(broken(aFleet({ groups: [aPod({ hostPorts: [{ port: 80 }] })] }), [drain])).toEqual(['host-ports']);
  });

  it('obeys topology, with the pods where they are by then', () => {
    const labels = { app: 'web' };
    const podAntiAffinity = [{ topologyKey: HOSTNAME, selector: { matchLabels: labels } }];
    const fleet = aFleet({
      groups: [aPod({ labels, podAntiAffinity })],
      nodes: [aFleetNode('one'), aFleetNode('two'), aFleetNode('three')],
    });
    expect(broken(fleet, [drain])).toEqual(['pod-anti-affinity']);
    expect(broken(fleet, [{ nodes: ['two'], landings: { p2: 'three' } }])).toEqual([]);
    const both = [
      { nodes: ['one'], landings: { p1: 'three' } },
      { nodes: ['two'], landings: { p2: 'three' } },
    ];
    expect(broken(fleet, both)).toEqual(['pod-anti-affinity']);
  });

  it('obeys topology with those who stay on their node until it is gone', () => {
    const agent = { namespace: 'default', labels: { app: 'agent' } };
    const selector = { matchLabels: agent.labels };
    const away = (topologyKey: string) => aFleet({ groups: [aPod({ podAntiAffinity: [{ topologyKey, selector }] })] });
    expect(broken({ ...away(HOSTNAME), boundPods: [{ ...agent, node: 'two' }] }, [drain])).toEqual([]);
    expect(broken({ ...away(HOSTNAME), boundPods: [{ ...agent, node: 'one' }] }, [drain])).toEqual([
      'pod-anti-affinity',
    ]);
    // The bound pod is still in the zone when the evicted pods are placed.
    expect(broken({ ...away(ZONE), boundPods: [{ ...agent, node: 'two' }] }, [drain])).toEqual(['pod-anti-affinity']);
    const three = { ...away(ZONE), nodes: [...aFleet().nodes, aFleetNode('three')] };
    const after = [{ nodes: ['three'], landings: {} }, drain];
    expect(broken({ ...three, boundPods: [{ ...agent, node: 'three' }] }, after)).toEqual([]);
  });

  it('knows the new nodes of different moves apart', () => {
    const labels = { app: 'web' };
    const podAntiAffinity = [{ topologyKey: HOSTNAME, selector: { matchLabels: labels } }];
    const fleet = aFleet({ groups: [aPod({ labels, podAntiAffinity })], instanceTypes: [aType(), small] });
    const replace = (node: string, pod: string): StatedMove => ({
      nodes: [node],
      landings: { [pod]: 0 },
      buy: [{ buy: ['small/a/on-demand'] }],
    });
    expect(broken(fleet, [replace('one', 'p1'), replace('two', 'p2')])).toEqual([]);
    expect(broken(fleet, [bothToSmall])).toContain('pod-anti-affinity');
  });

  it('buys what a plan may buy', () => {
    const unknown = { ...bothToSmall, buy: [{ buy: ['tiny/a/on-demand'] }] };
    expect(broken(aFleet(), [unknown])).toContain('unknown-offering');
    const pools = [aPool({ limits: { cpu: 9000 }, usage: { cpu: 8000 } })];
    const fleet = aFleet({ instanceTypes: [aType(), small], pools });
    expect(broken(fleet, [bothToSmall])).toEqual(['limits']);
    expect(
      broken({ ...fleet, pools: [aPool({ limits: { cpu: 10000 }, usage: { cpu: 8000 } })] }, [bothToSmall]),
    ).toEqual([]);
  });

  it('takes no more slots than there are, and gives back those of nodes that went', () => {
    const reserved: Offering = { zone: 'a', capacityType: 'reserved', price: 0.001, reservationId: 'r', slots: 1 };
    const types = [aType({ offerings: [...onDemand(1, 'a'), reserved] })];
    const into = (node: string, pod: string): StatedMove => ({
      nodes: [node],
      landings: { [pod]: 0 },
      buy: [{ buy: ['medium/a/reserved/r'] }],
    });
    const fleet = aFleet({ instanceTypes: types });
    expect(broken(fleet, [into('one', 'p1')])).toEqual([]);
    expect(broken(fleet, [into('one', 'p1'), into('two', 'p2')])).toEqual(['slots']);
    const one = aFleetNode('one', { capacityType: 'reserved', reservationId: 'r', price: 0.001 });
    const returning = aFleet({ instanceTypes: types, nodes: [one, aFleetNode('two'), aFleetNode('three')] });
    const emptied: StatedMove = { nodes: ['one'], landings: { p1: 'three' } };
    expect(broken(returning, [emptied, into('two', 'p2')])).toEqual([]);
  });
});

describe('what may be touched', () => {
  it.each<[string, Partial<FleetNode>]>([
    ['is held', { hold: 'do-not-disrupt' }],
    ['is kept by a pod', { blockedBy: { pod: 'default/agent', budgets: [] } }],
    ['is of a pool that is not consolidated', { pool: 'other' }],
  ])('is no node that %s', (_, overrides) => {
    expect(broken(aFleet({ nodes: [aFleetNode('one'), aFleetNode('two', overrides)] }), [drain])).toEqual([
      'untouchable',
    ]);
  });

  it('is a node that has only just come as long as nothing is launched for it', () => {
    const fleet = aFleet({ nodes: [aFleetNode('one'), aFleetNode('two', { settling: true })] });
    expect(broken(fleet, [drain])).toEqual([]);
    const exchange: StatedMove = { nodes: ['two'], landings: { p2: 0 }, buy: [{ buy: ['medium/a/on-demand'] }] };
    expect(broken(fleet, [exchange])).toContain('untouchable');
    expect(broken(aFleet(), [exchange])).not.toContain('untouchable');
  });

  it('is only what is empty when the pool says so', () => {
    const poolDisruption = [{ pool: 'default', policy: 'WhenEmpty' as const }];
    expect(broken(aFleet({ poolDisruption }), [drain])).toEqual(['untouchable']);
    const empty = aFleet({ poolDisruption, pods: [aFleetPod('p1', 'one')] });
    expect(broken(empty, [{ nodes: ['two'], landings: {} }])).toEqual([]);
  });

  it('is no pod that must not be disrupted', () => {
    const pods = [aFleetPod('p1', 'one'), aFleetPod('p2', 'two', { doNotDisrupt: true })];
    expect(broken(aFleet({ pods }), [drain])).toEqual(['untouchable']);
  });

  it('is no pod that could not run elsewhere', () => {
    const pods = [aFleetPod('p1', 'one'), aFleetPod('p2', 'two', { stuck: 'it has a device' })];
    expect(broken(aFleet({ pods }), [drain])).toEqual(['untouchable']);
  });

  it('is within the disruption budgets of pods, over all moves', () => {
    const three = (allowed: number) =>
      aFleet({
        nodes: [aFleetNode('one'), aFleetNode('two'), aFleetNode('three')],
        pods: ['one', 'two', 'three'].map((node, index) =>
          aFleetPod(`p${index + 1}`, node, { disruptionBudgets: [0] }),
        ),
        disruptionBudgets: [{ name: 'default/web', allowed }],
      });
    const moves = [drain, { nodes: ['three'], landings: { p3: 'one' } }];
    expect(broken(three(1), moves)).toEqual(['disruption-budget']);
    expect(broken(three(2), moves)).toEqual([]);
    const pods = [aFleetPod('p1', 'one'), aFleetPod('p2', 'two', { disruptionBudgets: [0, 1] })];
    const disruptionBudgets = [0, 1].map((number) => ({ name: `${number}`, allowed: 9 }));
    expect(broken(aFleet({ pods, disruptionBudgets }), [drain])).toEqual(['disruption-budget']);
  });

  it('is within the budget of the pool for the reason', () => {
    const poolDisruption = (allowed: object) => [{ pool: 'default', allowed }];
    expect(broken(aFleet({ poolDisruption: poolDisruption({ Underutilized: 0 }) }), [drain])).toEqual(['pool-budget']);
    expect(broken(aFleet({ poolDisruption: poolDisruption({ Underutilized: 1, Empty: 0 }) }), [drain])).toEqual([]);
  });

  it('is given the reason that fits', () => {
    expect(broken(aFleet(), [{ ...drain, reason: 'Empty' }])).toEqual(['untouchable']);
  });
});

describe('what a move brings', () => {
  const fleet = aFleet({ instanceTypes: [aType(), small] });

  it('is what it says', () => {
    expect(broken(fleet, [{ ...bothToSmall, savings: 2 }])).toContain('savings');
  });

  it('is as much as is wanted', () => {
    expect(broken(fleet, [bothToSmall], {}, { minSavings: 1.6 })).toEqual(['savings']);
    expect(broken(fleet, [bothToSmall], {}, { minSavingsShare: 0.8 })).toEqual(['savings']);
    expect(broken(fleet, [bothToSmall], {}, { minSavingsShare: 0.75 })).toEqual([]);
    const dearer = aFleet({ instanceTypes: [aType({ offerings: onDemand(3, 'a') })] });
    expect(broken(dearer, [{ ...bothToSmall, buy: [{}] }])).toEqual(['savings']);
  });

  it('keeps enough other spot offerings when spot makes way for spot', () => {
    const spot = (price: number): Offering[] => [{ zone: 'a', capacityType: 'spot', price }];
    const types = Array.from({ length: 3 }, (_, index) =>
      aType({ name: `t${index}`, offerings: spot(0.1 + index / 10) }),
    );
    const onSpot = aFleet({
      nodes: [aFleetNode('one', { capacityType: 'spot' }), aFleetNode('two')],
      instanceTypes: types,
    });
    const move = (...buy: string[]): StatedMove => ({ nodes: ['one'], landings: { p1: 0 }, buy: [{ buy }] });
    const names = ['t0/a/spot', 't1/a/spot', 't2/a/spot'];
    expect(broken(onSpot, [move(...names)], {}, { spotDiversity: 3 })).toEqual([]);
    expect(broken(onSpot, [move(...names.slice(1))], {}, { spotDiversity: 3 })).toEqual(['spot-diversity']);
    const pair = (second: string[]): StatedMove => ({
      ...{ nodes: ['one', 'two'], landings: { p1: 0, p2: 1 } },
      buy: [{ buy: names }, { buy: second }],
    });
    expect(broken(onSpot, [pair(names)], {}, { spotDiversity: 3 })).toEqual([]);
    expect(broken(onSpot, [pair(names.slice(1))], {}, { spotDiversity: 3 })).toEqual(['spot-diversity']);
    const merge: StatedMove = { nodes: ['one', 'two'], landings: { p1: 0, p2: 0 }, buy: [{ buy: names.slice(1) }] };
    expect(broken(onSpot, [merge], {}, { spotDiversity: 3 })).toEqual([]);
    // Nodes with at most half of the CPU and memory need no other offerings.
    const room = (times: number) => ({ cpu: 4000 * times, memory: 8 * GIB * times, pods: 10 });
    const larger = (times: number): Fleet => ({
      ...onSpot,
      nodes: onSpot.nodes.map((node) => ({ ...node, allocatable: room(times) })),
    });
    const [, one = ''] = names;
    expect(broken(larger(2), [move(one)], {}, { spotDiversity: 3 })).toEqual([]);
    expect(broken(larger(1.9), [move(one)], {}, { spotDiversity: 3 })).toEqual(['spot-diversity']);
  });

  it('adds up', () => {
    expect(broken(fleet, [bothToSmall], { priceBefore: 3 })).toEqual(['price']);
    expect(broken(fleet, [bothToSmall], { priceAfter: 1 })).toEqual(['price']);
    expect(broken(fleet, [bothToSmall], { lowerBound: 0.6 })).toEqual(['lower-bound']);
    expect(broken(fleet, [bothToSmall], { lowerBound: 0.5 })).toEqual([]);
  });

  it('is told for every node that stays, too', () => {
    expect(broken(aFleet(), [drain], { kept: [] })).toEqual(['kept']);
  });
});
