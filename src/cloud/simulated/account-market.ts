/** What an account can buy, as its price list, its reservations and our own experience tell: the offerings for the solver. */
import { LABEL_REGION } from '../../apis/karpenter/labels.ts';
import type { InstanceType, Offering } from '../../engine/problem.ts';
import type { OfferingName } from '../offering-key.ts';
import type { Reservations } from '../reservations.ts';
import type { UnavailableOfferings } from '../unavailable-offerings.ts';
import type { ReservationState } from './account.ts';
import { RESERVATION_ID } from './labels.ts';

/** A reserved machine is paid for already; a thousandth keeps the order of sizes. */
const RESERVED_PRICE_DIVISOR = 1000;
/** So many lists are kept for NodePools that see the market differently. */
const MOST_LISTS = 8;

export interface AccountMarketOptions {
  readonly account: string;
  readonly unavailable: UnavailableOfferings;
  readonly reservations: Reservations;
}

export class AccountMarket {
  readonly #unavailable: UnavailableOfferings;
  readonly #reservations: Reservations;
  readonly #account: string;
  #priceList: readonly InstanceType[] = [];
  #reserved: readonly ReservationState[] = [];
  /** All that is sold, in the market or not, and of which count of reservations. */
  #sold: { readonly types: readonly InstanceType[]; readonly sequence: number } | undefined;
  /** By what is out of the market: NodePools may differ in that. */
  readonly #lists = new Map<string, readonly InstanceType[]>();

  constructor(options: AccountMarketOptions) {
    this.#account = options.account;
    this.#unavailable = options.unavailable;
    this.#reservations = options.reservations;
  }

  /** Takes what the cloud said when it was asked at that moment of `clock.elapsed()`. */
  update(priceList: readonly InstanceType[], reserved: readonly ReservationState[], askedAt: number): void {
    if (!sameList(this.#priceList, priceList) || !sameReservations(this.#reserved, reserved)) this.#sold = undefined;
    this.#priceList = priceList;
    this.#reserved = reserved;
    for (const { id, free } of reserved) this.#reservations.count(id, free, askedAt);
  }

  /** The reservations that have not ended. */
  get reservationIds(): readonly string[] {
    return this.#reserved.map(({ id }) => id);
  }

  /** Whether anything is sold in a zone. */
  sellsIn(zone: string): boolean {
    return this.#priceList.some((type) => type.offerings.some((offering) => offering.zone === zone));
  }

  /** The instance types with their offerings, as a NodePool sees them; the same array while nothing has changed. */
  instanceTypes(pool?: string): readonly InstanceType[] {
    const types = this.#allTypes();
    const stamp = this.#unavailable.stamp(pool);
    const known = this.#lists.get(stamp);
    if (known !== undefined) return known;
    const list = stamp === '' ? types : types.map((type) => this.#withHealth(type, pool));
    const [oldest] = this.#lists.keys();
    if (this.#lists.size >= MOST_LISTS && oldest !== undefined) this.#lists.delete(oldest);
    this.#lists.set(stamp, list);
    return list;
  }

  #allTypes(): readonly InstanceType[] {
    const { sequence } = this.#reservations;
    if (this.#sold?.sequence !== sequence) {
      const reserved = Map.groupBy(this.#reserved, (reservation) => reservation.instanceType);
      const types = this.#priceList.map((type) => {
        const offerings = (reserved.get(type.name) ?? []).map((one) => this.#reservedOffering(type, one));
        return offerings.length === 0 ? type : { ...type, offerings: [...type.offerings, ...offerings] };
      });
      this.#sold = { types, sequence };
      this.#lists.clear();
    }
    return this.#sold.types;
  }

  #reservedOffering(type: InstanceType, { id, zone }: ReservationState): Offering {
    const onDemand = type.offerings.find((offering) => offering.zone === zone && offering.capacityType === 'on-demand');
    const region = type.offerings.find((offering) => offering.zone === zone)?.labels?.[LABEL_REGION];
    return {
      zone,
      capacityType: 'reserved',
      price: (onDemand?.price ?? 0) / RESERVED_PRICE_DIVISOR,
      reservationId: id,
      slots: this.#reservations.free(id),
      labels: { [RESERVATION_ID]: id, ...(region !== undefined && { [LABEL_REGION]: region }) },
    };
  }

  /** The same type where all of it is in the market, so that pools that see it alike share it. */
  #withHealth(type: InstanceType, pool: string | undefined): InstanceType {
    const isOut = ({ capacityType, zone, reservationId }: Offering): boolean => {
      const name: OfferingName = { capacityType, instanceType: type.name, zone, account: this.#account };
      return this.#unavailable.has(reservationId === undefined ? name : { ...name, reservationId }, pool);
    };
    if (!type.offerings.some(isOut)) return type;
    return {
      ...type,
      offerings: type.offerings.map((offering) => (isOut(offering) ? { ...offering, healthy: false } : offering)),
    };
  }
}

function sameList(before: readonly InstanceType[], after: readonly InstanceType[]): boolean {
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

function sameReservations(before: readonly ReservationState[], after: readonly ReservationState[]): boolean {
  const text = (list: readonly ReservationState[]): string =>
    list.map(({ id, instanceType, zone }) => `${id}:${instanceType}:${zone}`).join();
  return text(before) === text(after);
}
