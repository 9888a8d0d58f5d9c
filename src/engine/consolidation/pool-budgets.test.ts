import { describe, expect, it } from 'vitest';
import { aFleet, aFleetNode, aFleetPod } from '../testkit/fleet-builder.ts';
import { verifyConsolidation } from '../verify/verify-consolidation.ts';
import { applyMoves } from './apply-plan.ts';
import { consolidate } from './consolidate.ts';
import type { PoolDisruption } from './fleet.ts';
import { firstRefused, PoolBudgets } from './pool-budgets.ts';

const empty = { pool: 'a', reason: 'Empty' as const };
const used = { pool: 'a', reason: 'Underutilized' as const };

describe('the budgets of pools', () => {
  it('have less for every reason with each node that goes', () => {
    const budgets = new PoolBudgets([{ pool: 'a', allowed: { Empty: 3, Underutilized: 1 } }, { pool: 'b' }]);
    budgets.take('a');
    expect([budgets.left('a', 'Empty'), budgets.left('a', 'Underutilized')]).toEqual([2, 0]);
    budgets.take('a', -1);
    expect([budgets.left('a', 'Empty'), budgets.left('a', 'Underutilized')]).toEqual([3, 1]);
    expect(budgets.left('b', 'Empty')).toBe(Number.POSITIVE_INFINITY);
    expect(budgets.left('unknown', 'Empty')).toBe(0);
  });

  it('refuse the first of several nodes that is too much, after those before it', () => {
    const budgets = new PoolBudgets([{ pool: 'a', allowed: { Empty: 3, Underutilized: 1 } }, { pool: 'b' }]);
    expect(firstRefused([used, empty, empty], budgets)).toBeUndefined();
    expect(firstRefused([empty, used], budgets)).toBe(used);
    expect(firstRefused([{ ...used, pool: 'b' }, used], budgets)).toBeUndefined();
  });
});

describe('a plan', () => {
  const fleet = (allowed: PoolDisruption['allowed'] = {}) =>
    aFleet({
      nodes: ['idle', 'one', 'two'].map((name) => aFleetNode(name)),
      pods: [aFleetPod('p1', 'one'), aFleetPod('p2', 'two')],
      poolDisruption: [{ pool: 'default', allowed }],
    });
  const gone = (allowed: PoolDisruption['allowed']): string[] => {
    const { moves } = consolidate(fleet(allowed));
    expect(verifyConsolidation(fleet(allowed), consolidate(fleet(allowed)))).toEqual([]);
    return moves.flatMap(({ nodes }) => nodes);
  };

  it('has no more nodes go in all than the budget for the reason of the last of them allows', () => {
    expect(gone({})).toHaveLength(2);
    expect(gone({ Empty: 1, Underutilized: 1 })).toEqual(['idle']);
    expect(gone({ Empty: 1, Underutilized: 2 })).toHaveLength(2);
    expect(gone({ Empty: 0, Underutilized: 1 })).toHaveLength(1);
  });

  it('is refused where it has', () => {
    const plan = consolidate(fleet());
    const rules = verifyConsolidation(fleet({ Empty: 1, Underutilized: 1 }), plan).map(({ rule }) => rule);
    expect(rules).toEqual(['pool-budget']);
  });

  it('leaves less for every reason when it is done', () => {
    const before = fleet({ Empty: 1, Underutilized: 2 });
    const after = applyMoves(before, consolidate(before).moves, 'spend-budgets');
    expect(after.poolDisruption).toEqual([{ pool: 'default', allowed: { Empty: 0, Underutilized: 0 } }]);
  });
});
