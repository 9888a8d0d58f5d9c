import type { Fleet, FleetNode } from '../consolidation/fleet.ts';
import type { Resources } from '../problem.ts';
import { type Market, slotKey } from './market.ts';
import type { Bought } from './purchase-rules.ts';
import type { Report } from './violation.ts';

/** Tracks limits of pools and slots of offerings while moves launch nodes and remove others. */
export class FleetSupply {
  readonly #capacity: ReadonlyMap<string, Resources>;
  readonly #market: Market;
  readonly #usage = new Map<string, Record<string, number>>();
  readonly #taken = new Map<string, number>();

  constructor(fleet: Fleet, market: Market) {
    this.#capacity = new Map(fleet.instanceTypes.map(({ name, capacity }) => [name, capacity]));
    this.#market = market;
    for (const pool of fleet.pools) this.#usage.set(pool.name, { ...pool.usage });
  }

  /** Launches nodes while all old ones still run. */
  buy(purchases: readonly Bought[], subject: string, report: Report): void {
    for (const { found, pool } of purchases) {
      this.#count(pool.name, found.type.name, 1);
      const key = slotKey(found);
      const taken = (this.#taken.get(key) ?? 0) + 1;
      this.#taken.set(key, taken);
      if (taken > this.#market.slots(found)) report('slots', subject, `${key}: ${taken} taken`);
      for (const [resource, limit] of Object.entries(pool.limits ?? {})) {
        const used = this.#usage.get(pool.name)?.[resource] ?? 0;
        if (used > limit) report('limits', subject, `pool ${pool.name}, ${resource}: ${used} of ${limit}`);
      }
    }
  }

  /** A node of the fleet was removed: its share of limits and its slot are free again. */
  giveBack({ pool, instanceType, zone, capacityType, reservationId }: FleetNode): void {
    if (pool !== undefined) this.#count(pool, instanceType, -1);
    const key =
      reservationId === undefined ? `${instanceType} ${capacityType} in ${zone}` : `reservation ${reservationId}`;
    this.#taken.set(key, (this.#taken.get(key) ?? 0) - 1);
  }

  #count(pool: string, typeName: string, sign: number): void {
    const usage = this.#usage.get(pool) ?? {};
    const capacity = this.#capacity.get(typeName) ?? {};
    for (const [resource, amount] of Object.entries({ ...capacity, nodes: 1 })) {
      usage[resource] = (usage[resource] ?? 0) + sign * amount;
    }
    this.#usage.set(pool, usage);
  }
}
