/** What can still be launched: free reservation slots and the remaining limits of pools. */
import type { Model } from '../compile/model.ts';
import type { FleetNode } from './fleet.ts';
import { optionSlotKey, slotKey } from './slot-key.ts';

interface Limit {
  readonly resource: string;
  left: number;
}

/** Slots and limits; a removed node gives its share back. */
export class Supply {
  readonly #model: Model;
  readonly #slots: Int32Array;
  readonly #slotOf = new Map<string, number>();
  readonly #limits: Limit[][];

  constructor(model: Model) {
    this.#model = model;
    const { catalogue, problem } = model;
    this.#slots = catalogue.reservationSlots.slice();
    for (let option = 0; option < catalogue.optionCount; option++) {
      const slot = catalogue.optionReservation[option] as number;
      if (slot >= 0) this.#slotOf.set(optionSlotKey(model, option), slot);
    }
    this.#limits = problem.pools.map(({ limits = {}, usage = {} }) =>
      Object.entries(limits).map(([resource, limit]) => ({ resource, left: limit - (usage[resource] ?? 0) })),
    );
  }

  /** Whether one more node of an option can be launched while everything else still runs. */
  affords(option: number): boolean {
    const { catalogue, problem } = this.#model;
    const slot = catalogue.optionReservation[option] as number;
    if (slot >= 0 && (this.#slots[slot] as number) <= 0) return false;
    const { pool, type } = catalogue.templates[catalogue.optionTemplate[option] as number] as {
      pool: number;
      type: number;
    };
    const limits = this.#limits[pool] as Limit[];
    if (limits.length === 0) return true;
    const capacity = problem.instanceTypes[type]?.capacity ?? {};
    return limits.every(({ resource, left }) => {
      const each = resource === 'nodes' ? 1 : (capacity[resource] ?? 0);
      return each === 0 || each <= left;
    });
  }

  /** Whether any offering with slots can still be launched. */
  slotsLeft(): boolean {
    return this.#slots.some((left) => left > 0);
  }

  /** Takes nodes of an option; a negative count gives them back. */
  take(option: number, count: number): void {
    const { catalogue, problem } = this.#model;
    const slot = catalogue.optionReservation[option] as number;
    if (slot >= 0) this.#slots[slot] = (this.#slots[slot] as number) - count;
    const { pool, type } = catalogue.templates[catalogue.optionTemplate[option] as number] as {
      pool: number;
      type: number;
    };
    this.#spend(pool, problem.instanceTypes[type]?.capacity ?? {}, count);
  }

  /** Gives back the share of a removed node of the fleet. */
  release(node: FleetNode): void {
    const { problem } = this.#model;
    const slot = this.#slotOf.get(slotKey(node.instanceType, node));
    if (slot !== undefined) this.#slots[slot] = (this.#slots[slot] as number) + 1;
    const pool = problem.pools.findIndex(({ name }) => name === node.pool);
    const type = problem.instanceTypes.find(({ name }) => name === node.instanceType);
    if (pool >= 0) this.#spend(pool, type?.capacity ?? {}, -1);
  }

  #spend(pool: number, capacity: Readonly<Record<string, number>>, count: number): void {
    for (const limit of this.#limits[pool] as Limit[]) {
      limit.left -= count * (limit.resource === 'nodes' ? 1 : (capacity[limit.resource] ?? 0));
    }
  }
}
