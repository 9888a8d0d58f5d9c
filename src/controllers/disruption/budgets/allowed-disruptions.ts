/** How many nodes of a pool its budgets let go now. Pure. */
import { budgetWindow } from '../../../apis/karpenter/budget-window.ts';
import type { DisruptionBudget, DisruptionReason, NodePool } from '../../../apis/karpenter/node-pool.ts';
import type { EpochMs } from '../../../platform/clock.ts';

/** Why a node is taken away, as budgets tell it apart. What has expired is covered only by budgets that name no reason. */
export type BudgetedReason = DisruptionReason | 'Expired';

/** The nodes of a pool, as budgets count them. */
export interface PoolNodes {
  /** Those that are up. */
  readonly total: number;
  /** Of these, those that are going or restart. */
  readonly going: number;
  /** Of these, those that are not ready, and not going. */
  readonly notReady: number;
}

/** What the budgets of a pool allow for a reason. */
export interface AllowedDisruptions {
  /** Nodes that may go now, beside those that are going already; infinite where no budget holds. */
  readonly allowed: number;
  /** Nodes that use the budgets up already. */
  readonly disrupting: number;
  /** The tightest budget that holds now. */
  readonly budget?: DisruptionBudget;
  /** When one of the budgets next begins or ceases to hold. */
  readonly changesAt?: EpochMs;
  /** Why a budget cannot be read, which lets nothing go. */
  readonly problem?: string;
}

/** The least that the budgets for a reason allow, less what goes already. Sick nodes do not stand in the way of their repair. */
export function allowedDisruptions(
  pool: NodePool,
  nodes: PoolNodes,
  reason: BudgetedReason,
  now: EpochMs,
): AllowedDisruptions {
  const disrupting = nodes.going + (reason === 'Unhealthy' ? 0 : nodes.notReady);
  let tightest: { readonly limit: number; readonly budget: DisruptionBudget; readonly problem?: string } | undefined;
  let changesAt = Number.POSITIVE_INFINITY;
  for (const budget of pool.spec.disruption.budgets) {
    if (!covers(budget, reason)) continue;
    const window = budgetWindow(budget, now);
    changesAt = Math.min(changesAt, window.changesAt ?? Number.POSITIVE_INFINITY);
    if (!window.active) continue;
    const limit = window.problem === undefined ? nodesOf(budget, nodes.total) : 0;
    if (tightest !== undefined && tightest.limit <= limit) continue;
    tightest = { limit, budget, ...(window.problem === undefined ? {} : { problem: window.problem }) };
  }
  return {
    allowed: tightest === undefined ? Number.POSITIVE_INFINITY : Math.max(0, tightest.limit - disrupting),
    disrupting,
    ...(tightest === undefined ? {} : { budget: tightest.budget }),
    ...(Number.isFinite(changesAt) ? { changesAt: changesAt as EpochMs } : {}),
    ...(tightest?.problem === undefined ? {} : { problem: tightest.problem }),
  };
}

function covers({ reasons = [] }: DisruptionBudget, reason: BudgetedReason): boolean {
  return reasons.length === 0 || (reasons as readonly string[]).includes(reason);
}

/** A percentage rounds up, so that a small pool is not locked by a small one. */
function nodesOf({ nodes }: DisruptionBudget, total: number): number {
  return nodes.endsWith('%') ? Math.ceil((total * Number(nodes.slice(0, -1))) / 100) : Number(nodes);
}
