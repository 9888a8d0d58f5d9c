/** What a node class sells, as its catalogue, its reservations and our own experience tell: the offerings for the solver. */
import { LABEL_REGION } from '../apis/karpenter/labels.ts';
import type { InstanceType, Offering } from '../engine/problem.ts';
import type { Catalogue, ReservationCount } from './cloud.ts';
import type { OfferingName } from './offering-key.ts';
import type { Reservations } from './reservations.ts';
import type { UnavailableOfferings } from './unavailable-offerings.ts';

/** A reserved machine is paid for already; a thousandth keeps the order of sizes. */
const RESERVED_PRICE_DIVISOR = 1000;
/** So many lists are kept for NodePools that see the market differently. */
const MOST_LISTS = 8;

export interface PriceListOptions {
  readonly scope: string;
  readonly unavailable: UnavailableOfferings;
  readonly reservations: Reservations;
  /** Names the reservation of an offering. */
  readonly reservationLabel?: string;
}

export class PriceList {
  readonly #options: PriceListOptions;
  #types: readonly InstanceType[] = [];
  #reserved: readonly ReservationCount[] = [];
  /** All that is sold, in the market or not, and of which count of reservations. */
  #sold: { readonly types: readonly InstanceType[]; readonly sequence: number } | undefined;
  /** By what is out of the market: NodePools may differ in that. */
  readonly #lists = new Map<string, readonly InstanceType[]>();

  constructor(options: PriceListOptions) {
    this.#options = options;
  }

  /** Takes what the cloud said. */
  update({ instanceTypes, reservations, countedAt }: Catalogue): void {
    if (!sameList(this.#types, instanceTypes) || !sameReservations(this.#reserved, reservations))
      this.#sold = undefined;
    this.#types = instanceTypes;
    this.#reserved = reservations;
    for (const { id, free } of reservations) this.#options.reservations.count(id, free, countedAt);
  }

  /** The instance types with their offerings, as a NodePool sees them; the same array while nothing has changed. */
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

  /** The same type where all of it is in the market, so that pools that see it alike share it. */
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
