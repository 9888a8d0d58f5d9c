/** The offerings of a node class for the solver: its catalogue, its reservations, and what is unavailable now. */
import { LABEL_REGION } from '../apis/karpenter/labels.ts';
import type { InstanceType, Offering } from '../engine/problem.ts';
import type { Catalogue, ReservationCount } from './cloud.ts';
import type { OfferingName } from './offering-key.ts';
import type { Reservations } from './reservations.ts';
import type { UnavailableOfferings } from './unavailable-offerings.ts';

/** A reserved machine is already paid for. A thousandth of the price keeps small machines before large ones. */
const RESERVED_PRICE_DIVISOR = 1000;
/** How many lists are kept for NodePools with different unavailable offerings. */
const MOST_LISTS = 8;

export interface PriceListOptions {
  readonly scope: string;
  readonly unavailable: UnavailableOfferings;
  readonly reservations: Reservations;
  /** The label that holds the reservation ID. */
  readonly reservationLabel?: string;
}

export class PriceList {
  readonly #options: PriceListOptions;
  #types: readonly InstanceType[] = [];
  #reserved: readonly ReservationCount[] = [];
  /** All offerings, available or not, and the count of reservations that they include. */
  #sold: { readonly types: readonly InstanceType[]; readonly sequence: number } | undefined;
  /** By the stamp of the unavailable offerings, which may differ between NodePools. */
  readonly #lists = new Map<string, readonly InstanceType[]>();

  constructor(options: PriceListOptions) {
    this.#options = options;
  }

  /** Stores the cloud's answer. */
  update({ instanceTypes, reservations, countedAt }: Catalogue): void {
    if (!sameList(this.#types, instanceTypes) || !sameReservations(this.#reserved, reservations))
      this.#sold = undefined;
    this.#types = instanceTypes;
    this.#reserved = reservations;
    for (const { id, free } of reservations) this.#options.reservations.count(id, free, countedAt);
  }

  /** The instance types with their offerings for a NodePool. The same array while nothing has changed. */
  instanceTypes(pool?: string): readonly InstanceType[] {
    const types = this.#allTypes();
    const { unavailable, scope } = this.#options;
    const stamp = unavailable.stamp(pool, scope);
    const known = this.#lists.get(stamp);
    if (known !== undefined) return known;
    const list = stamp === '' ? types : types.map((type) => this.#withHealth(type, pool));
    const [oldest] = this.#lists.keys();
    if (this.#lists.size >= MOST_LISTS && oldest !== undefined) this.#lists.delete(oldest);
    this.#lists.set(stamp, list);
    return list;
  }

  #allTypes(): readonly InstanceType[] {
    const { sequence } = this.#options.reservations;
    if (this.#sold?.sequence !== sequence) {
      const reserved = Map.groupBy(this.#reserved, (reservation) => reservation.instanceType);
      const types = this.#types.map((type) => {
        const offerings = (reserved.get(type.name) ?? []).map((one) => this.#reservedOffering(type, one));
        return offerings.length === 0 ? type : { ...type, offerings: [...type.offerings, ...offerings] };
      });
      this.#sold = { types, sequence };
      this.#lists.clear();
    }
    return this.#sold.types;
  }

  #reservedOffering(type: InstanceType, { id, zone, labels, price }: ReservationCount): Offering {
    const { reservations, reservationLabel } = this.#options;
    const onDemand = type.offerings.find((offering) => offering.zone === zone && offering.capacityType === 'on-demand');
    const region = type.offerings.find((offering) => offering.zone === zone)?.labels?.[LABEL_REGION];
    return {
      zone,
      capacityType: 'reserved',
      price: price ?? (onDemand?.price ?? 0) / RESERVED_PRICE_DIVISOR,
      reservationId: id,
      slots: reservations.free(id),
      labels: {
        ...(region !== undefined && { [LABEL_REGION]: region }),
        ...labels,
        ...(reservationLabel !== undefined && { [reservationLabel]: id }),
      },
    };
  }

  /** Returns the type itself if all its offerings are available, so that pools share it. */
  #withHealth(type: InstanceType, pool: string | undefined): InstanceType {
    const isOut = ({ capacityType, zone, reservationId }: Offering): boolean => {
      const name: OfferingName = { capacityType, instanceType: type.name, zone, scope: this.#options.scope };
      return this.#options.unavailable.has(reservationId === undefined ? name : { ...name, reservationId }, pool);
    };
    if (!type.offerings.some(isOut)) return type;
    return {
      ...type,
      offerings: type.offerings.map((offering) => (isOut(offering) ? { ...offering, healthy: false } : offering)),
    };
  }
}

function sameList(before: readonly InstanceType[], after: readonly InstanceType[]): boolean {
  if (before === after) return true;
  return (
    before.length === after.length &&
    before.every((type, index) => {
      const other = after[index];
      return (
        other !== undefined &&
        type.name === other.name &&
        type.capacity === other.capacity &&
        type.labels === other.labels &&
        type.offerings.length === other.offerings.length &&
        type.offerings.every((offering, place) => sameOffering(offering, other.offerings[place]))
      );
    })
  );
}

function sameOffering(a: Offering, b: Offering | undefined): boolean {
  return b !== undefined && a.price === b.price && a.zone === b.zone && a.capacityType === b.capacityType;
}

function sameReservations(before: readonly ReservationCount[], after: readonly ReservationCount[]): boolean {
  const text = (list: readonly ReservationCount[]): string =>
    list.map(({ id, instanceType, zone }) => `${id}:${instanceType}:${zone}`).join();
  return text(before) === text(after);
}
