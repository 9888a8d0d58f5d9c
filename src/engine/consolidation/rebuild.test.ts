import { describe, expect, it } from 'vitest';
import type { PodGroup } from '../problem.ts';
import { aPod, aType, GIB, onDemand, ZONE } from '../testkit/builders.ts';
import { aFleet, aFleetNode, aFleetPod } from '../testkit/fleet-builder.ts';
import { verifyConsolidation } from '../verify/verify-consolidation.ts';
import { applyMoves } from './apply-plan.ts';
import { consolidate } from './consolidate.ts';
import type { Fleet, FleetPod } from './fleet.ts';

const ROOM = { cpu: 8000, memory: 16 * GIB, pods: 20 };
const large = aType({ name: 'large', capacity: ROOM, offerings: onDemand(2, 'a', 'b', 'c') });
const small = aType({
  name: 'small',
  capacity: { cpu: 2000, memory: 4 * GIB, pods: 20 },
  offerings: onDemand(0.5, 'a', 'b', 'c'),
});

/** A service whose pods are spread over the zones. */
function spread(app: string, cpu: number): PodGroup {
  const selector = { matchLabels: { app } };
  return aPod({
    name: app,
    labels: { app },
    requests: { cpu, memory: GIB },
    topologySpread: [{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', selector }],
  });
}

/** Twelve large nodes in one zone with a pod of each service: the state after the pods in other zones were removed. */
function uneven(pod: Partial<FleetPod> = {}, overrides: Partial<Fleet> = {}, length = 12): Fleet {
  const names = Array.from({ length }, (_, index) => `n${index}`);
  return aFleet({
    nodes: names.map((name) => aFleetNode(name, { instanceType: 'large', price: 2, allocatable: ROOM })),
    groups: [spread('web', 1000), spread('api', 500)],
    pods: names.flatMap((name) => [
      aFleetPod(`web-on-${name}`, name, { steerable: true, ...pod }),
      aFleetPod(`api-on-${name}`, name, { group: 1, steerable: true, ...pod }),
    ]),
    instanceTypes: [large, small],
    ...overrides,
  });
}

describe('planning the wasteful part of a fleet anew', () => {
  it('finds what exchanges of a few nodes do not: the same pods, spread evenly, for the least they can cost', () => {
    const fleet = uneven();
    const plan = consolidate(fleet);
    expect(verifyConsolidation(fleet, plan)).toEqual([]);
    expect(plan.priceAfter).toBeCloseTo(plan.lowerBound, 6);
    expect(plan.moves).toMatchObject([{ kind: 'merge', nodes: { length: 12 }, newNodes: { length: 9 } }]);
  });

  it('is not done with pods that cannot be put where they should be', () => {
    const plan = consolidate(uneven({ steerable: false }));
    expect(plan.moves.every(({ nodes }) => nodes.length < 12)).toBe(true);
    expect(plan.priceAfter).toBeGreaterThan(1.05 * plan.lowerBound);
  });

  it('keeps away from those who stay on nodes that stay', () => {
    const agent = { namespace: 'default', labels: { app: 'agent' }, node: 'held' };
    const podAntiAffinity = [{ topologyKey: ZONE, selector: { matchLabels: agent.labels } }];
    const held = aFleetNode('held', { zone: 'b', allocatable: {}, hold: 'do-not-disrupt' });
    const fleet = uneven();
    const groups = fleet.groups.map((group) => ({ ...group, podAntiAffinity }));
    const near = { ...fleet, groups, nodes: [...fleet.nodes, held] };
    const zones = (of: Fleet) => new Set(consolidate(of).moves[0]?.newNodes.map(({ offerings }) => offerings[0]?.zone));
    expect(zones(near)).toEqual(new Set(['a', 'b', 'c']));
    // No zone may be left out of a spread, so there is no new plan at all.
    const kept = { ...near, boundPods: [agent] };
    expect(consolidate(kept).way).not.toBe('rebuild');
    expect(verifyConsolidation(kept, consolidate(kept))).toEqual([]);
  });

  it('is weighed without what it may not touch: a dear node that goes already does not make its saving small', () => {
    const fleet = uneven();
    const going = aFleetNode('going', { price: 500, allocatable: ROOM, hold: 'leaving', closed: true });
    const plan = consolidate({ ...fleet, nodes: [...fleet.nodes, going] });
    expect(plan).toMatchObject({ way: 'rebuild', moves: [{ nodes: { length: 12 } }] });
    expect(plan.priceAfter).toBeCloseTo(plan.lowerBound, 6);
  });

  it('lets empty nodes go as Empty', () => {
    const fleet = uneven();
    const idle = aFleetNode('idle', { instanceType: 'large', price: 2, allocatable: ROOM });
    const plan = consolidate({ ...fleet, nodes: [...fleet.nodes, idle] });
    expect(verifyConsolidation({ ...fleet, nodes: [...fleet.nodes, idle] }, plan)).toEqual([]);
    expect(plan.moves.find(({ reason }) => reason === 'Empty')).toMatchObject({ nodes: ['idle'], newNodes: [] });
    expect(plan.moves).toHaveLength(2);
  });

  it('fills some of the nodes up instead where the move of a pod has its price', () => {
    const fleet = uneven({}, {}, 36);
    const all = consolidate(fleet, { movePrice: 0 });
    const some = consolidate(fleet, { movePrice: 0.5 });
    expect(verifyConsolidation(fleet, some)).toEqual([]);
    expect([all.evictions, all.moves.flatMap(({ fills = [] }) => fills)]).toEqual([72, []]);
    expect(some.evictions).toBeLessThan(72);
    const fills = some.moves.flatMap((move) => move.fills ?? []);
    expect(fills.length).toBeGreaterThan(0);
    // These nodes stay, and every pod without a new node moves to one of them.
    expect(some.moves.flatMap(({ nodes }) => nodes)).not.toEqual(expect.arrayContaining([fills[0]]));
    const landings = some.moves.flatMap((move) => move.landings);
    expect(landings.every((one) => 'move' in one || fills.includes(one.node))).toBe(true);
    expect(some.priceAfter).toBeLessThan(1.1 * some.lowerBound);
  });

  it('leaves a node alone that may go soon, and exchanges it then, where that comes out cheaper than to fill it', () => {
    const held = aFleetNode('held', { instanceType: 'large', price: 2, allocatable: ROOM, hold: 'consolidate-after' });
    const fleet = uneven();
    const own = [
      aFleetPod('web', 'held', { steerable: true }),
      aFleetPod('api', 'held', { group: 1, steerable: true }),
    ];
    const withHeld = (heldBriefly: boolean): Fleet => ({
      ...{ ...fleet, pods: [...fleet.pods, ...own] },
      nodes: [...fleet.nodes, { ...held, ...(heldBriefly ? { heldBriefly } : {}) }],
    });
    const filled = (of: Fleet) =>
      consolidate(of).moves.flatMap(({ landings }) => landings.filter((one) => 'node' in one && one.node === 'held'));
    expect(filled(withHeld(false)).length).toBeGreaterThan(0);
    expect(filled(withHeld(true))).toEqual([]);
    const settled = (of: Fleet): number => {
      const after = applyMoves(of, consolidate(of).moves);
      // The hold has ended; the launched nodes are in their cool-down.
      const nodes = after.nodes.map(({ hold: _, heldBriefly: __, ...node }) =>
        of.nodes.some(({ name }) => name === node.name) ? node : { ...node, settling: true },
      );
      return consolidate({ ...after, nodes }).priceAfter;
    };
    expect(settled(withHeld(true))).toBeLessThan(settled(withHeld(false)));
  });

  it('takes as many nodes as the budgets let go', () => {
    const fleet = uneven({}, { poolDisruption: [{ pool: 'default', allowed: { Underutilized: 8 } }] });
    const plan = consolidate(fleet);
    expect(verifyConsolidation(fleet, plan)).toEqual([]);
    expect(plan.moves.flatMap(({ nodes }) => nodes)).toHaveLength(8);
  });

  it('evicts no more pods than their PodDisruptionBudget allows', () => {
    const fleet = uneven({ disruptionBudgets: [0] }, { disruptionBudgets: [{ name: 'default/web', allowed: 3 }] });
    const plan = consolidate(fleet);
    expect(verifyConsolidation(fleet, plan)).toEqual([]);
    expect(plan.evictions).toBeLessThanOrEqual(3);
  });
});
