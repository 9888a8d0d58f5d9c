import { describe, expect, it } from 'vitest';
import { aPool } from '../testkit/builders.ts';
import { aFleet, aFleetNode, aFleetPod } from '../testkit/fleet-builder.ts';
import { consolidate } from './consolidate.ts';
import { causes, gone, plan } from './testkit/planned.ts';

describe('a node is kept, and it is said why,', () => {
  const budgets = (allowed: number) => ({
    pods: ['one', 'two', 'three'].map((node) => aFleetPod(`on-${node}`, node, { disruptionBudgets: [0] })),
    nodes: ['one', 'two', 'three'].map((name) => aFleetNode(name)),
    disruptionBudgets: [{ name: 'default/web', allowed }],
  });

  it('when it or its pool is not to be touched', () => {
    const fleet = aFleet({
      nodes: [
        aFleetNode('one', { hold: 'do-not-disrupt' }),
        aFleetNode('two', { pool: 'other' }),
        aFleetNode('three', { pool: 'lazy' }),
      ],
      pools: [aPool(), aPool({ name: 'lazy' })],
    });
    const { kept } = plan(fleet);
    expect(kept.map(({ cause }) => cause.kind)).toEqual(['hold', 'no-pool', 'policy']);
    expect(kept[0]?.sentence).toBe('node one stays: it has the annotation karpenter.sh/do-not-disrupt');
  });

  it('when its pool consolidates only empty nodes and it has pods', () => {
    const poolDisruption = [{ pool: 'default', policy: 'WhenEmpty' as const }];
    expect(causes(aFleet({ poolDisruption }))).toEqual({ one: 'policy', two: 'policy' });
    expect(gone(aFleet({ poolDisruption, pods: [aFleetPod('p1', 'one')] }))).toEqual(['two']);
  });

  it('when a pod on it must not be disrupted', () => {
    const pods = ['one', 'two'].map((node) => aFleetPod(`on-${node}`, node, { doNotDisrupt: true }));
    expect(plan(aFleet({ pods })).kept.map(({ cause }) => cause)).toEqual([
      { kind: 'pod', pod: 'on-one' },
      { kind: 'pod', pod: 'on-two' },
    ]);
  });

  it('when a pod on it could not run elsewhere', () => {
    const nodes = [aFleetNode('one', { hold: 'nominated' }), aFleetNode('two')];
    const { moves, kept } = plan(aFleet({ nodes, pods: [aFleetPod('p', 'two', { stuck: 'it has a device' })] }));
    expect(moves).toEqual([]);
    expect(kept[1]?.sentence).toBe('node two stays: pod p cannot run elsewhere: it has a device');
  });

  it('when a pod that is not moved, but evicted with it, may not be', () => {
    const cause = (...budgets: string[]) => {
      const two = aFleetNode('two', { blockedBy: { pod: 'default/agent', budgets } });
      const { kept, moves } = plan(aFleet({ nodes: [aFleetNode('one', { hold: 'nominated' }), two] }));
      expect(moves).toEqual([]);
      return kept[1];
    };
    expect(cause()).toMatchObject({ sentence: 'node two stays: pod default/agent must not be disrupted' });
    expect(cause('default/b')?.cause).toEqual({
      ...{ kind: 'disruption-budget', budget: 'default/b', pod: 'default/agent', allowed: 0 },
    });
    expect(cause('default/b', 'default/c')?.cause.kind).toBe('several-disruption-budgets');
  });

  it('when a PodDisruptionBudget is used up, also by moves before', () => {
    expect(gone(aFleet(budgets(2)))).toHaveLength(2);
    expect(gone(aFleet(budgets(1)))).toHaveLength(1);
    expect(causes(aFleet(budgets(0)))).toEqual({
      one: 'disruption-budget',
      two: 'disruption-budget',
      three: 'disruption-budget',
    });
    const { kept } = plan(aFleet(budgets(1)));
    expect(kept.map(({ cause }) => cause.kind)).toEqual(['disruption-budget', 'disruption-budget']);
    expect(kept[0]?.sentence).toContain('PodDisruptionBudget default/web allows 1 eviction now');
  });

  it('when it has more pods of a PodDisruptionBudget than may go, unless they go in turns', () => {
    const pods = ['p1', 'p2'].map((name) => aFleetPod(name, 'one', { disruptionBudgets: [0] }));
    const other = aFleetPod('p3', 'two', { disruptionBudgets: [0] });
    const fleet = (allowed: number) =>
      aFleet({
        nodes: [aFleetNode('one'), aFleetNode('two'), aFleetNode('three', { hold: 'nominated' })],
        pods: [...pods, other],
        disruptionBudgets: [{ name: 'default/web', allowed }],
      });
    expect(gone(fleet(1))).toEqual(['two']);
    const inTurns = (allowed: number) =>
      consolidate({ ...fleet(allowed), pods }, { evictInTurns: true }).moves.flatMap(({ nodes }) => nodes);
    expect(inTurns(1).sort()).toEqual(['one', 'two']);
    expect(inTurns(0)).toEqual(['two']);
    // Only one node of a plan may use the budget this way.
    const moves = consolidate(fleet(1), { evictInTurns: true }).moves;
    expect(moves.filter(({ landings }) => landings.length > 0)).toHaveLength(1);
  });

  it('when a pod has two PodDisruptionBudgets', () => {
    const pods = ['one', 'two'].map((node) => aFleetPod(`on-${node}`, node, { disruptionBudgets: [0, 1] }));
    const disruptionBudgets = ['a', 'b'].map((name) => ({ name, allowed: 5 }));
    expect(causes(aFleet({ pods, disruptionBudgets }))).toEqual({
      one: 'several-disruption-budgets',
      two: 'several-disruption-budgets',
    });
  });

  it('when the budget of its pool for the reason is used up', () => {
    const nodes = ['one', 'two', 'three', 'four'].map((name) => aFleetNode(name));
    const limited = (allowed: object) => aFleet({ nodes, poolDisruption: [{ pool: 'default', allowed }] });
    expect(plan(limited({ Empty: 1 })).moves.filter(({ reason }) => reason === 'Empty')).toHaveLength(1);
    expect(gone(limited({ Empty: 0, Underutilized: 0 }))).toEqual([]);
    const { kept } = plan(limited({ Underutilized: 0 }));
    expect(kept.map(({ cause }) => cause)).toContainEqual({
      kind: 'pool-budget',
      pool: 'default',
      reason: 'Underutilized',
      allowed: 0,
    });
  });

  it('when a Balanced pool would be disrupted more than it saves', () => {
    const poolDisruption = [{ pool: 'default', policy: 'Balanced' as const }];
    const busy = Array.from({ length: 3 }, (_, index) => aFleetPod(`busy-${index}`, 'one', { evictionCost: 10 }));
    const dear = aFleet({
      poolDisruption,
      nodes: [aFleetNode('one', { price: 0.1 }), aFleetNode('two', { hold: 'spot-policy' })],
      pods: [...busy, aFleetPod('p2', 'two')],
    });
    expect(causes(dear)).toEqual({ one: 'balanced', two: 'hold' });
    expect(gone(dear, { balancedScore: 0.05 })).toEqual(['one']);
  });
});
