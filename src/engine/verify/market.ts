import type { InstanceType, Offering, Pool, Problem } from '../problem.ts';
import type { RankedOffering } from '../solution.ts';

/** An offering of the catalogue together with its instance type. */
export interface Found {
  readonly type: InstanceType;
  readonly offering: Offering;
}

/** The pools and offerings that a plan may name. */
export class Market {
  readonly #pools: ReadonlyMap<string, Pool>;
  readonly #offerings = new Map<string, Found>();
  readonly #slots = new Map<string, number>();

  constructor(problem: Problem) {
    this.#pools = new Map(problem.pools.map((pool) => [pool.name, pool]));
    for (const type of problem.instanceTypes) {
      for (const offering of type.offerings) {
        const found = { type, offering };
        this.#offerings.set(nameOf({ ...offering, instanceType: type.name }), found);
        const slots = offering.slots ?? Number.POSITIVE_INFINITY;
        this.#slots.set(slotKey(found), Math.min(slots, this.#slots.get(slotKey(found)) ?? Number.POSITIVE_INFINITY));
      }
    }
  }

  pool(name: string): Pool | undefined {
    return this.#pools.get(name);
  }

  /** The offering, if it exists at that price. */
  find(wanted: RankedOffering): Found | undefined {
    return this.#offerings.get(nameOf(wanted));
  }

  /** How many can be launched. Offerings of one reservation share its count. */
  slots(found: Found): number {
    return this.#slots.get(slotKey(found)) ?? Number.POSITIVE_INFINITY;
  }
}

/** The key under which slots are counted: the reservation, or else the offering itself. */
export function slotKey({ type, offering }: Found): string {
  return offering.reservationId === undefined
    ? `${type.name} ${offering.capacityType} in ${offering.zone}`
    : `reservation ${offering.reservationId}`;
}

/** An offering in words. */
export function nameOf({ instanceType, capacityType, zone, reservationId, price }: RankedOffering): string {
  return `${instanceType} ${capacityType} in ${zone}${reservationId === undefined ? '' : ` of ${reservationId}`} at ${price}`;
}
