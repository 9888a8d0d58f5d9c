/** One account in the simulated cloud: its instance types, prices and capacity. */
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_REGION, LABEL_ZONE } from '../../apis/karpenter/labels.ts';
import type { InstanceType, Labels } from '../../engine/problem.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { OfferingName } from '../offering-key.ts';
import {
  type AccountSettings,
  covers,
  type OfferingOverride,
  type OfferingPattern,
  type ReservationSettings,
} from './account-settings.ts';
import { ApiError } from './api-error.ts';
import { type Fleet, poolPart, reservationPart } from './fleet.ts';
import { RESERVATION_ID } from './labels.ts';
import { poolName, SpotMarket } from './spot-market.ts';

export interface AccountOptions {
  readonly name: string;
  readonly settings: AccountSettings;
  readonly random: Random;
  readonly fleet: Fleet;
}

/** A reservation with the number of its slots that are free. */
export type ReservationState = ReservationSettings & { readonly free: number };

export class Account {
  readonly name: string;
  readonly market: SpotMarket;
  readonly #random: Random;
  readonly #fleet: Fleet;
  /** Set by hand, in addition to those in the settings. */
  #overrides: OfferingOverride[] = [];
  readonly #dryUntil = new Map<string, EpochMs>();
  #settings: AccountSettings;
  #types: ReadonlyMap<string, InstanceType>;
  #regions: ReadonlyMap<string, string>;

  constructor({ name, settings, random, fleet }: AccountOptions) {
    this.name = name;
    this.market = new SpotMarket(random.split('market'));
    this.#random = random.split('capacity');
    this.#fleet = fleet;
    this.#settings = settings;
    this.#types = typesOf(settings);
    this.#regions = regionsOf(settings);
  }

  get settings(): AccountSettings {
    return this.#settings;
  }

  /** Changes the settings of an account in use. */
  configure(settings: AccountSettings): void {
    this.#settings = settings;
    this.#types = typesOf(settings);
    this.#regions = regionsOf(settings);
  }

  instanceType(name: string): InstanceType | undefined {
    return this.#types.get(name);
  }

  /** The region of a zone; undefined if the account has no such zone. */
  regionOf(zone: string): string | undefined {
    return this.#regions.get(zone);
  }

  override(override: OfferingOverride): void {
    this.#overrides.push(override);
  }

  /** Removes overrides set by hand for these offerings or a part of them. */
  restore(pattern: OfferingPattern): void {
    this.#overrides = this.#overrides.filter((other) => !covers(pattern, other));
    for (const pool of this.#dryUntil.keys()) {
      const [instanceType = '', zone = ''] = pool.split(':');
      if (covers(pattern, { capacityType: 'spot', instanceType, zone })) this.#dryUntil.delete(pool);
    }
  }

  /** Marks a spot pool as sold out until then. */
  dryUp(pool: string, until: EpochMs): void {
    this.#dryUntil.set(pool, until);
  }

  /** All offerings in the account's zones at their current prices. */
  priceList(now: EpochMs): readonly InstanceType[] {
    const { catalogue, market } = this.#settings;
    return catalogue.flatMap((type) => {
      const offerings = type.offerings
        .filter(({ zone }) => this.#regions.has(zone))
        .map((offering) => {
          const { capacityType, zone } = offering;
          const name = { capacityType, zone, instanceType: type.name };
          const factor = this.#overridden(name, 'priceFactor') ?? 1;
          const moved = capacityType === 'spot' ? this.market.priceFactor(poolName(type.name, zone), now, market) : 1;
          const price = Math.round(offering.price * factor * moved * 1e5) / 1e5;
          return { ...offering, price, labels: { [LABEL_REGION]: this.#regions.get(zone) ?? '' } };
        });
      return offerings.length === 0 ? [] : [{ ...type, offerings }];
    });
  }

  /** Reservations that have not ended. */
  reservations(now: EpochMs): readonly ReservationState[] {
    return this.#settings.reservations
      .filter(({ endsAt }) => endsAt === undefined || endsAt > now)
      .map((reservation) => ({ ...reservation, free: this.#freeSlots(reservation) }));
  }

  /** Why an offering cannot be launched now; undefined if it can. */
  refusal(offering: OfferingName, now: EpochMs): ApiError | undefined {
    const { faults } = this.#settings;
    if (faults.denied) return new ApiError('UnauthorizedOperation', 'not authorized to launch instances');
    if (!this.#isSold(offering))
      return new ApiError('InvalidParameter', `${offering.instanceType} is not sold in ${offering.zone}`);
    if (faults.quota !== undefined && this.#fleet.count(this.name) >= faults.quota)
      return new ApiError('InstanceLimitExceeded', `the account may have ${faults.quota} instances`);
    if (offering.reservationId !== undefined) return this.#reservationRefusal(offering, now);
    return this.#isExhausted(offering, now)
      ? new ApiError('InsufficientInstanceCapacity', `no ${offering.capacityType} capacity of ${offering.instanceType}`)
      : undefined;
  }

  /** The open reservation that an on-demand launch uses automatically. */
  openReservation(offering: OfferingName, now: EpochMs): string | undefined {
    if (offering.capacityType !== 'on-demand') return undefined;
    return this.reservations(now).find(
      ({ match, instanceType, zone, free }) =>
        match === 'open' && instanceType === offering.instanceType && zone === offering.zone && free > 0,
    )?.id;
  }

  /** The labels of a machine of this type and offering. */
  labels(type: InstanceType, offering: OfferingName): Labels {
    return {
      ...type.labels,
      [LABEL_INSTANCE_TYPE]: offering.instanceType,
      [LABEL_ZONE]: offering.zone,
      [LABEL_REGION]: this.#regions.get(offering.zone) ?? '',
      [LABEL_CAPACITY_TYPE]: offering.capacityType,
      ...(offering.reservationId !== undefined && { [RESERVATION_ID]: offering.reservationId }),
    };
  }

  #isSold({ capacityType, instanceType, zone }: OfferingName): boolean {
    const type = this.#types.get(instanceType);
    if (type === undefined || !this.#regions.has(zone)) return false;
    return (
      capacityType === 'reserved' ||
      type.offerings.some((offering) => offering.zone === zone && offering.capacityType === capacityType)
    );
  }

  #reservationRefusal(offering: OfferingName, now: EpochMs): ApiError | undefined {
    const found = this.reservations(now).find(({ id }) => id === offering.reservationId);
    if (found === undefined || found.instanceType !== offering.instanceType || found.zone !== offering.zone)
      return new ApiError('InvalidParameter', `there is no reservation ${offering.reservationId} of this kind`);
    return found.free > 0 ? undefined : new ApiError('ReservationCapacityExceeded', `reservation ${found.id} is full`);
  }

  #freeSlots({ id, count, instanceType, zone }: ReservationSettings): number {
    const capacity = this.#overridden({ capacityType: 'reserved', instanceType, zone }, 'capacity') ?? count;
    return Math.max(0, Math.min(count, capacity) - this.#fleet.count(this.name, reservationPart(id)));
  }

  #isExhausted(offering: OfferingName, now: EpochMs): boolean {
    const { market, faults } = this.#settings;
    const { capacityType, instanceType, zone } = offering;
    if (faults.launchFailureRate > 0 && this.#random.next() < faults.launchFailureRate) return true;
    const ofMarket = capacityType === 'spot' ? market.capacityPerPool : undefined;
    const capacity = this.#overridden(offering, 'capacity') ?? ofMarket ?? Number.POSITIVE_INFINITY;
    if (this.#fleet.count(this.name, poolPart(capacityType, instanceType, zone)) >= capacity) return true;
    const pool = poolName(instanceType, zone);
    return capacityType === 'spot' && ((this.#dryUntil.get(pool) ?? 0) > now || this.market.isDry(pool, now, market));
  }

  #overridden(offering: OfferingPattern, field: 'capacity' | 'priceFactor'): number | undefined {
    const says = (override: OfferingOverride): boolean => override[field] !== undefined && covers(override, offering);
    return (this.#overrides.findLast(says) ?? this.#settings.overrides.findLast(says))?.[field];
  }
}

function typesOf({ catalogue }: AccountSettings): ReadonlyMap<string, InstanceType> {
  return new Map(catalogue.map((type) => [type.name, type]));
}

function regionsOf({ regions }: AccountSettings): ReadonlyMap<string, string> {
  return new Map(regions.flatMap(({ name, zones }) => zones.map((zone) => [zone, name])));
}
