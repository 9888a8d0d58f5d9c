/** Tracks what can still be launched: reservation slots and pool limits. */
import type { Model } from '../compile/model.ts';
import type { Pool } from '../problem.ts';

/** The remaining slots and limits. */
export class Purse {
  readonly #model: Model;
  readonly #slots: Int32Array;
  readonly #limits: Map<string, number>[];

  constructor(model: Model, from?: Purse) {
    this.#model = model;
    this.#slots = (from === undefined ? model.catalogue.reservationSlots : from.#slots).slice();
    this.#limits =
      from === undefined ? model.problem.pools.map(remainingLimits) : from.#limits.map((limits) => new Map(limits));
  }

  /** Whether there are neither slots nor limits, so that launches are unlimited. */
  get isEndless(): boolean {
    return this.#slots.length === 0 && this.#limits.every((limits) => limits.size === 0);
  }

  /** A copy for trying something. */
  clone(): Purse {
    return new Purse(this.#model, this);
  }

  /** How many nodes of an option can still be launched. */
  affords(option: number): number {
    const { catalogue, problem } = this.#model;
    let count = this.slotsLeft(option);
    const template = catalogue.templates[catalogue.optionTemplate[option] as number];
    if (template === undefined) return 0;
    const limits = this.#limits[template.pool] as Map<string, number>;
    if (limits.size > 0) {
      const capacity = problem.instanceTypes[template.type]?.capacity ?? {};
      for (const [resource, left] of limits) {
        const each = resource === 'nodes' ? 1 : (capacity[resource] ?? 0);
        if (each > 0) count = Math.min(count, Math.floor(left / each));
      }
    }
    return Math.max(count, 0);
  }

  /** Whether an option can be launched instead of another that is already counted; both are of one pool. */
  affordsInstead(other: number, option: number): boolean {
    const { catalogue, problem } = this.#model;
    const bought = catalogue.templates[catalogue.optionTemplate[other] as number];
    const wanted = catalogue.templates[catalogue.optionTemplate[option] as number];
    if (bought === undefined || wanted === undefined) return false;
    if (bought.type === wanted.type) return true;
    const has = problem.instanceTypes[bought.type]?.capacity ?? {};
    const needs = problem.instanceTypes[wanted.type]?.capacity ?? {};
    for (const [resource, left] of this.#limits[wanted.pool] as Map<string, number>) {
      const more = (needs[resource] ?? 0) - (has[resource] ?? 0);
      if (more > 0 && more > left) return false;
    }
    return true;
  }

  /** Free slots of the option's reservation; unlimited for options without one. */
  slotsLeft(option: number): number {
    const reservation = this.#model.catalogue.optionReservation[option] as number;
    return reservation < 0 ? Number.MAX_SAFE_INTEGER : (this.#slots[reservation] as number);
  }

  /** Counts nodes of an option; a negative count gives them back. */
  take(option: number, count: number): void {
    const { catalogue, problem } = this.#model;
    const reservation = catalogue.optionReservation[option] as number;
    if (reservation >= 0) this.#slots[reservation] = (this.#slots[reservation] as number) - count;
    const template = catalogue.templates[catalogue.optionTemplate[option] as number];
    if (template === undefined) return;
    const limits = this.#limits[template.pool] as Map<string, number>;
    if (limits.size === 0) return;
    const capacity = problem.instanceTypes[template.type]?.capacity ?? {};
    for (const [resource, left] of limits) {
      limits.set(resource, left - count * (resource === 'nodes' ? 1 : (capacity[resource] ?? 0)));
    }
  }

  /** The limited resource that prevents an option from being launched, and how much is missing. */
  shortage(option: number): { resource: string; missing: number } | undefined {
    const { catalogue, problem } = this.#model;
    const template = catalogue.templates[catalogue.optionTemplate[option] as number];
    if (template === undefined) return undefined;
    const capacity = problem.instanceTypes[template.type]?.capacity ?? {};
    for (const [resource, left] of this.#limits[template.pool] as Map<string, number>) {
      const each = resource === 'nodes' ? 1 : (capacity[resource] ?? 0);
      if (each > left) return { resource, missing: each - left };
    }
    return undefined;
  }
}

function remainingLimits(pool: Pool): Map<string, number> {
  const result = new Map<string, number>();
  for (const resource in pool.limits) {
    result.set(resource, (pool.limits[resource] as number) - (pool.usage?.[resource] ?? 0));
  }
  return result;
}
