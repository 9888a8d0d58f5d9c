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
  #listed: readonly InstanceType[] | undefined;
  #sequences = '';

  constructor(options: AccountMarketOptions) {
    this.#account = options.account;
    this.#unavailable = options.unavailable;
    this.#reservations = options.reservations;
  }

  /** Takes what the cloud said when it was asked at that moment of `clock.elapsed()`. */
  update(priceList: readonly InstanceType[], reserved: readonly ReservationState[], askedAt: number): void {
    if (!sameList(this.#priceList, priceList) || !sameReservations(this.#reserved, reserved)) this.#listed = undefined;
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

  /** The instance types with their offerings; the same array while nothing has changed. */
  instanceTypes(): readonly InstanceType[] {
    const sequences = `${this.#unavailable.sequence} ${this.#reservations.sequence}`;
    if (this.#listed === undefined || sequences !== this.#sequences) {
      this.#sequences = sequences;
      this.#listed = this.#list();
    }
    return this.#listed;
  }

  #list(): readonly InstanceType[] {
    const reserved = Map.groupBy(this.#reserved, (reservation) => reservation.instanceType);
    return this.#priceList.map((type) => ({
      ...type,
      offerings: [
        ...type.offerings.map((offering) => this.#withHealth(type.name, offering)),
        ...(reserved.get(type.name) ?? []).map((reservation) => this.#reservedOffering(type, reservation)),
      ],
    }));
  }

  #reservedOffering(type: InstanceType, { id, zone }: ReservationState): Offering {
    const onDemand = type.offerings.find((offering) => offering.zone === zone && offering.capacityType === 'on-demand');
    const region = type.offerings.find((offering) => offering.zone === zone)?.labels?.[LABEL_REGION];
    return this.#withHealth(type.name, {
      zone,
      capacityType: 'reserved',
      price: (onDemand?.price ?? 0) / RESERVED_PRICE_DIVISOR,
      reservationId: id,
      slots: this.#reservations.free(id),
      labels: { [RESERVATION_ID]: id, ...(region !== undefined && { [LABEL_REGION]: region }) },
    });
  }

  #withHealth(instanceType: string, offering: Offering): Offering {
    const name: OfferingName = { ...offering, instanceType, account: this.#account };
    return this.#unavailable.has(name) ? { ...offering, healthy: false } : offering;
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
