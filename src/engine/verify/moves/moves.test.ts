import { describe, expect, it } from 'vitest';
import type { Fleet } from '../../consolidation/fleet.ts';
import { aPod, aType, GIB, onDemand, ZONE } from '../../testkit/builders.ts';
import { aConsolidation, aFleet, aFleetNode, aFleetPod } from '../../testkit/fleet-builder.ts';
import { verifyMoveFigures } from './move-figures.ts';
import { verifyStayingPods } from './staying-pods.ts';

const labels = { app: 'web' };
const selector = { matchLabels: labels };

describe('pods that stay', () => {
  const zones = (...names: readonly string[]) => names.map((zone, index) => aFleetNode(`n${index}`, { zone }));
  const pods = (...nodes: readonly string[]) => nodes.map((node, index) => aFleetPod(`p${index}`, node));
  const types = [aType({ offerings: onDemand(1, 'a', 'b', 'c') })];

  it('stay spread as well as they were', () => {
    const topologySpread = [{ topologyKey: ZONE, maxSkew: 2, whenUnsatisfiable: 'DoNotSchedule' as const, selector }];
    const fleet: Fleet = aFleet({
      groups: [aPod({ labels, topologySpread })],
      nodes: zones('a', 'b', 'c', 'a'),
      // Two in a (on different nodes), two in b, four in c.
      pods: pods('n0', 'n3', 'n1', 'n1', 'n2', 'n2', 'n2', 'n2'),
      instanceTypes: types,
    });
    const toB = aConsolidation(fleet, [{ nodes: ['n0'], landings: { p0: 'n1' } }]);
    expect(verifyStayingPods(fleet, toB).map(({ rule }) => rule)).toEqual(['topology-spread']);
    const toA = aConsolidation(fleet, [{ nodes: ['n0'], landings: { p0: 'n3' } }]);
    expect(verifyStayingPods(fleet, toA)).toEqual([]);
  });

  it('keep a neighbour that they must have', () => {
    const fleet: Fleet = aFleet({
      groups: [aPod({ labels }), aPod({ podAffinity: [{ topologyKey: ZONE, selector }] })],
      nodes: zones('a', 'a', 'b'),
      pods: [aFleetPod('db', 'n0'), aFleetPod('client', 'n1', { group: 1 })],
      instanceTypes: types,
    });
    const away = aConsolidation(fleet, [{ nodes: ['n0'], landings: { db: 'n2' } }]);
    expect(verifyStayingPods(fleet, away).map(({ rule }) => rule)).toEqual(['pod-affinity']);
    const near = aConsolidation(fleet, [{ nodes: ['n0'], landings: { db: 'n1' } }]);
    expect(verifyStayingPods(fleet, near)).toEqual([]);
    const stands = (node: string) => ({ ...fleet, boundPods: [{ node, namespace: 'default', labels }] });
    expect(verifyStayingPods(stands('n1'), away)).toEqual([]);
    expect(verifyStayingPods(stands('n0'), away).map(({ rule }) => rule)).toEqual(['pod-affinity']);
  });
});

describe('the figures of a move', () => {
  const small = aType({
    name: 'small',
    capacity: { cpu: 2000, memory: 4 * GIB, pods: 5 },
    offerings: onDemand(0.5, 'a'),
  });
  const fleet = aFleet({ instanceTypes: [aType(), small] });
  const right = { nodes: ['two'], landings: { p2: 'one' }, disruptionCost: 2, score: 0.5 };
  const rules = (of: Fleet, move: Parameters<typeof aConsolidation>[1][0]) =>
    verifyMoveFigures(of, aConsolidation(of, [move])).map(({ rule }) => rule);

  it('are its kind, its cost and its score', () => {
    expect(rules(fleet, right)).toEqual([]);
    expect(rules(fleet, { ...right, kind: 'replace' })).toEqual(['savings']);
    expect(rules(fleet, { ...right, disruptionCost: 1 })).toEqual(['savings']);
    expect(rules(fleet, { ...right, score: 1 })).toEqual(['savings']);
  });

  it('are good enough even if every launch falls back', () => {
    const replace = { nodes: ['two'], landings: { p2: 0 }, kind: 'replace' as const, disruptionCost: 2, score: 0.25 };
    expect(rules(fleet, { ...replace, buy: [{ buy: ['small/a/on-demand'] }] })).toEqual([]);
    const withDear = { ...replace, buy: [{ buy: ['small/a/on-demand', 'medium/a/on-demand'] }] };
    expect(rules(fleet, withDear)).toEqual(['alternatives']);
  });

  it('are in balance with the pool where it asks for that', () => {
    const poolDisruption = [{ pool: 'default', policy: 'Balanced' as const }];
    const pods = [aFleetPod('p1', 'one'), aFleetPod('p2', 'two', { evictionCost: 9 })];
    const balanced = { ...fleet, poolDisruption };
    expect(rules(balanced, right)).toEqual([]);
    const cheap = [aFleetNode('one'), aFleetNode('two', { price: 0.1 })];
    const costly = { ...right, disruptionCost: 10, score: 0.01 };
    expect(rules({ ...balanced, pods, nodes: cheap }, costly)).toEqual(['savings']);
  });
});
