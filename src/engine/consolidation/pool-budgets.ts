/**
 * Counts nodes against the disruption budgets of pools. Each removed node counts against the budgets of every reason,
 * whatever its own reason, and so do nodes already being removed. The planner and the controllers both use these rules.
 */
import type { DisruptionReason, PoolDisruption } from './fleet.ts';

/** The remaining budgets. */
export interface BudgetsLeft<Reason extends string> {
  /** How many more nodes of a pool may be removed for a reason. */
  left(pool: string, reason: Reason): number;
  /** Charges nodes of a pool that are about to be removed; a negative number gives them back. */
  take(pool: string, count: number): void;
}

/** A node to remove. */
export interface Departure<Reason extends string = DisruptionReason> {
  readonly pool: string;
  readonly reason: Reason;
}

/** The first node that the budgets refuse, counting the nodes before it; undefined if all may be removed. */
export function firstRefused<Reason extends string>(
  departures: readonly Departure<Reason>[],
  budgets: Pick<BudgetsLeft<Reason>, 'left'>,
): Departure<Reason> | undefined {
  const needs = new Map<string, number>();
  // Caches the budgets: computing them may involve schedules, and the list of nodes may be long.
  const left = new Map<string, number>();
  for (const departure of departures) {
    const { pool, reason } = departure;
    const need = (needs.get(pool) ?? 0) + 1;
    const most = left.get(`${pool}/${reason}`) ?? budgets.left(pool, reason);
    if (most < need) return departure;
    needs.set(pool, need);
    left.set(`${pool}/${reason}`, most);
  }
  return undefined;
}

/** The budgets of a fleet during planning. */
export class PoolBudgets implements BudgetsLeft<DisruptionReason> {
  readonly #allowed: ReadonlyMap<string, PoolDisruption['allowed']>;
  readonly #taken = new Map<string, number>();

  constructor(pools: readonly PoolDisruption[]) {
    this.#allowed = new Map(pools.map(({ pool, allowed = {} }) => [pool, allowed]));
  }

  left(pool: string, reason: DisruptionReason): number {
    const allowed = this.#allowed.get(pool);
    if (allowed === undefined) return 0;
    return Math.max(0, (allowed[reason] ?? Number.POSITIVE_INFINITY) - (this.#taken.get(pool) ?? 0));
  }

  take(pool: string, count = 1): void {
    this.#taken.set(pool, (this.#taken.get(pool) ?? 0) + count);
  }

  /** The budget for a reason before anything was taken. */
  allowed(pool: string, reason: DisruptionReason): number {
    return this.#allowed.get(pool)?.[reason] ?? 0;
  }
}
