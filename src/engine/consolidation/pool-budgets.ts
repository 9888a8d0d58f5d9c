/**
 * How nodes count in the budgets of pools: each that goes counts against the budgets for every reason, whatever it goes for, as
 * those do that are going already. The planner and the controllers count by these rules, each in its own order.
 */
import type { DisruptionReason, PoolDisruption } from './fleet.ts';

/** What budgets leave. */
export interface BudgetsLeft<Reason extends string> {
  /** How many more nodes of a pool may go for a reason. */
  left(pool: string, reason: Reason): number;
  /** Nodes of a pool are about to go, or, with a negative number, do not go after all. */
  take(pool: string, count: number): void;
}

/** A node that is to go. */
export interface Departure<Reason extends string = DisruptionReason> {
  readonly pool: string;
  readonly reason: Reason;
}

/** The first of the nodes that the budgets do not let go, after those before it; undefined if all may go. */
export function firstRefused<Reason extends string>(
  departures: readonly Departure<Reason>[],
  budgets: Pick<BudgetsLeft<Reason>, 'left'>,
): Departure<Reason> | undefined {
  const needs = new Map<string, number>();
  // What is left may take schedules to be read, and many nodes may go at once.
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

/** The budgets of a fleet while a plan is made. */
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

  /** What was allowed for a reason before anything was taken. */
  allowed(pool: string, reason: DisruptionReason): number {
    return this.#allowed.get(pool)?.[reason] ?? 0;
  }
}
