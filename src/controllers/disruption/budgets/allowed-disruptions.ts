/** Disruptions that the budgets of a pool allow now. Pure. */
import { budgetWindow } from '../../../apis/karpenter/budget-window.ts';
import type { DisruptionBudget, DisruptionReason, NodePool } from '../../../apis/karpenter/node-pool.ts';
import type { EpochMs } from '../../../platform/clock.ts';

/** The reasons that budgets distinguish. Only budgets without reasons cover Expired. */
export type BudgetedReason = DisruptionReason | 'Expired';

/** The nodes of a pool as its budgets count them. */
export interface PoolNodes {
  /** Initialized nodes. */
  readonly total: number;
  /** Of these, nodes that are being disrupted or rebooted. */
  readonly going: number;
  /** Of these, other nodes that are not ready. */
  readonly notReady: number;
}

/** What the budgets of a pool allow for a reason. */
export interface AllowedDisruptions {
  /** Further disruptions allowed right now; infinite if no budget is active. */
  readonly allowed: number;
  /** Disruptions allowed at the same time; infinite if no budget is active. */
  readonly limit: number;
  /** Nodes that count against the budgets already. */
  readonly disrupting: number;
  /** The tightest active budget. */
  readonly budget?: DisruptionBudget;
  /** When one of the budgets next becomes active or inactive. */
  readonly changesAt?: EpochMs;
  /** Why a budget cannot be parsed; such a budget allows nothing. */
  readonly problem?: string;
}

/** The tightest budget for a reason, less the nodes that count against it. Nodes that are not ready do not count against repair. */
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
  const limit = tightest?.limit ?? Number.POSITIVE_INFINITY;
  return {
    allowed: Math.max(0, limit - disrupting),
    limit,
    disrupting,
    ...(tightest === undefined ? {} : { budget: tightest.budget }),
    ...(Number.isFinite(changesAt) ? { changesAt: changesAt as EpochMs } : {}),
    ...(tightest?.problem === undefined ? {} : { problem: tightest.problem }),
  };
}

function covers({ reasons = [] }: DisruptionBudget, reason: BudgetedReason): boolean {
  return reasons.length === 0 || (reasons as readonly string[]).includes(reason);
}

/** Percentages round up, as in Karpenter, so that a small percentage still allows one node of a small pool. */
function nodesOf({ nodes }: DisruptionBudget, total: number): number {
  return nodes.endsWith('%') ? Math.ceil((total * Number(nodes.slice(0, -1))) / 100) : Number(nodes);
}
