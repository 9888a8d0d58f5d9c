import { describe, expect, it } from 'vitest';
import { finish } from '../packing/work.ts';
import { aPod, aPool, aType, GIB, HOSTNAME, INSTANCE_TYPE, onDemand, oneOf, ZONE } from '../testkit/builders.ts';
import { aConsolidation, aFleet, aFleetNode, aFleetPod, type StatedMove } from '../testkit/fleet-builder.ts';
import type { Fleet } from './fleet.ts';
import { type ForecastOptions, forecast } from './forecast.ts';

const KIND: ForecastOptions = { order: 'largest-first', slack: 0, losable: 0 };
const HARD: ForecastOptions = { ...KIND, order: 'smallest-first' };
const cores = (cpu: number) => aPod({ requests: { cpu: cpu * 1000, memory: cpu * 2 * GIB } });

function survivors(fleet: Fleet, moves: readonly StatedMove[], options: ForecastOptions = KIND): number[] {
  return [...finish(forecast(fleet, aConsolidation(fleet, moves).moves, options))];
}

/** Node `a` with a pod of 2 cores and one of 1 core is removed; `b` has room for 2 cores, `c` for 1. */
const TIGHT: Fleet = aFleet({
  groups: [cores(2), cores(1), cores(3)],
  nodes: [aFleetNode('a'), aFleetNode('b'), aFleetNode('c')],
  pods: [
    aFleetPod('large', 'a'),
    aFleetPod('small', 'a', { group: 1 }),
    aFleetPod('on-b', 'b'),
    aFleetPod('on-c', 'c', { group: 2 }),
  ],
});
const CLEAR: StatedMove = { nodes: ['a'], landings: { large: 'b', small: 'c' } };

describe('a move', () => {
  it('works out when every pod fits where the scheduler puts it', () => {
    expect(survivors(aFleet(), [{ nodes: ['two'], landings: { p2: 'one' } }])).toEqual([0]);
  });

  it('does not work out when a small pod takes the room that a large one was meant for', () => {
    expect(survivors(TIGHT, [CLEAR], KIND)).toEqual([0]);
    expect(survivors(TIGHT, [CLEAR], HARD)).toEqual([]);
  });

  it('works out all the same when little is lost by a machine for what does not fit', () => {
    expect(survivors(TIGHT, [CLEAR], { ...HARD, losable: 1 })).toEqual([0]);
  });

  it('has to leave as much room as is asked for', () => {
    const move: StatedMove = { nodes: ['two'], landings: { p2: 'one' } };
    expect(survivors(aFleet(), [move], { ...KIND, slack: 0.4 })).toEqual([0]);
    expect(survivors(aFleet(), [move], { ...KIND, slack: 0.6 })).toEqual([]);
  });

  it('does not work out while nothing is left to the scheduler, unless it moves no pods', () => {
    const fleet = aFleet({ nodes: [...aFleet().nodes, aFleetNode('three')] });
    const moves: StatedMove[] = [
      { nodes: ['two'], landings: { p2: 'one' } },
      { nodes: ['three'], landings: {} },
    ];
    expect(survivors(fleet, moves)).toEqual([0, 1]);
    expect(survivors(fleet, moves, { ...KIND, paused: true })).toEqual([1]);
  });

  it('puts pods that ask for an instance type on a new node of it, whatever the problem calls the type', () => {
    const type = aType({ name: 'other:big', labels: { [INSTANCE_TYPE]: 'big' }, offerings: onDemand(0.5, 'a') });
    const groups = [{ ...cores(1), requirements: [[oneOf(INSTANCE_TYPE, 'big')]] }];
    const nodes = [aFleetNode('a', { labels: { [INSTANCE_TYPE]: 'big' } })];
    const fleet = aFleet({ groups, nodes, pods: [aFleetPod('p', 'a')], instanceTypes: [type] });
    const buy = [{ buy: ['other:big/a/on-demand'] }];
    expect(survivors(fleet, [{ nodes: ['a'], landings: { p: 0 }, buy }])).toEqual([0]);
  });

  it('counts on its own new nodes, and not on those of a move that does not work out', () => {
    const big = aType({ capacity: { cpu: 4000, memory: 8 * GIB, pods: 10 }, offerings: onDemand(0.5, 'a') });
    const fleet = aFleet({
      instanceTypes: [big],
      pools: [aPool()],
      groups: [cores(1), cores(5)],
      nodes: ['a', 'b', 'c'].map((name) => aFleetNode(name, { allocatable: { cpu: 8000, memory: 16 * GIB, pods: 2 } })),
      pods: [aFleetPod('one', 'a'), aFleetPod('huge', 'b', { group: 1 }), aFleetPod('x', 'c'), aFleetPod('y', 'c')],
    });
    const buy = [{ buy: ['medium/a/on-demand'] }];
    const own: StatedMove = { nodes: ['a'], landings: { one: 0 }, buy };
    expect(survivors(fleet, [own])).toEqual([0]);
    // The huge pod fits nowhere, so its new node is not launched and cannot hold pods of the other move.
    const impossible: StatedMove = { nodes: ['b'], landings: { huge: 0 }, buy };
    expect(survivors(fleet, [impossible, { nodes: ['a'], landings: { one: 'c' } }])).toEqual([1]);
  });

  it('does not count on nodes that the pods may not run on', () => {
    const move: StatedMove = { nodes: ['two'], landings: { p2: 'one' } };
    const picky = aFleet({ groups: [aPod({ requirements: [[oneOf('disk', 'ssd')]] })] });
    expect(survivors(picky, [move])).toEqual([]);
    const labels = { disk: 'ssd' };
    expect(survivors({ ...picky, nodes: [aFleetNode('one', { labels }), aFleetNode('two')] }, [move])).toEqual([0]);
    const taints = [{ key: 'team', effect: 'NoSchedule' as const }];
    expect(survivors(aFleet({ nodes: [aFleetNode('one', { taints }), aFleetNode('two')] }), [move])).toEqual([]);
  });

  it('keeps the spread that its pods must keep, counted without those that leave', () => {
    const selector = { matchLabels: { app: 'web' } };
    const topologySpread = [{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const, selector }];
    const labels = { app: 'web' };
    const nodes = [aFleetNode('a1'), aFleetNode('a2'), aFleetNode('b1', { zone: 'b' })];
    const pods = [aFleetPod('on-a1', 'a1'), aFleetPod('on-b1', 'b1')];
    const fleet = aFleet({ groups: [aPod({ labels, topologySpread })], nodes, pods });
    // The pod on b1 must be in b again, where no other pod is; the pod on a1 can be in a again.
    const moves: StatedMove[] = [
      { nodes: ['b1'], landings: { 'on-b1': 'a2' } },
      { nodes: ['a1'], landings: { 'on-a1': 'a2' } },
    ];
    expect(survivors(fleet, moves)).toEqual([1]);
    expect(survivors({ ...fleet, groups: [aPod({ labels })] }, moves)).toEqual([0, 1]);
    const wide = {
      ...fleet,
      groups: [aPod({ labels, topologySpread: topologySpread.map((one) => ({ ...one, maxSkew: 2 })) })],
    };
    expect(survivors(wide, moves)).toEqual([0, 1]);
    const second = { ...fleet, nodes: [...nodes, aFleetNode('b2', { zone: 'b' })] };
    expect(survivors(second, moves)).toEqual([0, 1]);
  });

  it('counts in spreads who stays on a node until it is gone', () => {
    const selector = { matchLabels: { app: 'web' } };
    const labels = { app: 'web' };
    const topologySpread = [
      { topologyKey: HOSTNAME, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const, selector },
    ];
    const nodes = ['one', 'two', 'three'].map((name) => aFleetNode(name));
    const pods = [aFleetPod('p2', 'two'), aFleetPod('p3', 'three')];
    const fleet = aFleet({ groups: [aPod({ labels, topologySpread })], nodes, pods });
    const move: StatedMove = { nodes: ['two'], landings: { p2: 'one' } };
    const boundPods = [{ node: 'one', namespace: 'default', labels }];
    expect(survivors(fleet, [move])).toEqual([0]);
    expect(survivors({ ...fleet, boundPods }, [move])).toEqual([]);
    expect(survivors({ ...fleet, boundPods: [...boundPods, { ...boundPods[0]!, node: 'two' }] }, [move])).toEqual([0]);
  });

  it('spreads its pods over the nodes that they may run on, and over hosts', () => {
    const spread = (topologyKey: string, parts = {}) => [
      { topologyKey, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const, selector: {}, ...parts },
    ];
    const nodes = ['one', 'two', 'three'].map((name) => aFleetNode(name));
    const pods = [aFleetPod('p1', 'one'), aFleetPod('p2', 'two'), aFleetPod('p3', 'three')];
    const move: StatedMove = { nodes: ['two'], landings: { p2: 'one' } };
    const over = (topologySpread: ReturnType<typeof spread>, changes = {}) =>
      survivors(aFleet({ groups: [aPod({ topologySpread, ...changes })], nodes, pods }), [move]);
    // The drained host has none, so no other host may have two.
    expect(over(spread(HOSTNAME))).toEqual([]);
    expect(over(spread(HOSTNAME, { maxSkew: 2 }))).toEqual([0]);
    expect(over(spread(ZONE))).toEqual([0]);
    expect(over(spread(ZONE, { minDomains: 2 }))).toEqual([]);
    expect(over(spread('rack'))).toEqual([]);
    const elsewhere = [...nodes, aFleetNode('four', { zone: 'b' })].map((node) => ({
      ...node,
      closed: node.zone === 'b',
    }));
    const inA = { requirements: [[oneOf(ZONE, 'a')]] };
    const fleet = (changes = {}) =>
      aFleet({ groups: [aPod({ topologySpread: spread(ZONE), ...changes })], nodes: elsewhere, pods });
    expect(survivors(fleet(), [move])).toEqual([]);
    expect(survivors(fleet(inA), [move])).toEqual([0]);
  });
});
