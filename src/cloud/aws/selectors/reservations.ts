/** The capacity reservations that node classes select, with their free slots when EC2 was last asked. */
import type {
  DescribeCapacityReservationsCommandInput,
  CapacityReservation as Described,
  Filter,
} from '@aws-sdk/client-ec2';
import type { ReservationTerm } from '../../../apis/aws/ec2-node-class.ts';
import type { Clock, EpochMs } from '../../../platform/clock.ts';
import { type AwsApi, allPages } from '../api/aws-api.ts';
import { isNotFound } from '../api/aws-error.ts';
import { CachedQuery } from './cached-query.ts';
import { tagFilters } from './tag-filters.ts';

export interface CapacityReservation {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly ownerId: string;
  readonly match: 'open' | 'targeted';
  readonly type: 'default' | 'capacity-block';
  readonly interruptible: boolean;
  readonly tenancy: 'default' | 'dedicated';
  /** `Linux/UNIX`, `Windows`, ... */
  readonly platform: string;
  readonly total: number;
  readonly free: number;
  readonly endsAt?: EpochMs;
}

const KEPT_MS = 60_000;
/** EC2 reclaims the machines of a capacity block half an hour before its end; ten more minutes are left for draining. */
const BLOCK_ENDS_EARLY_MS = 40 * 60_000;

export class CapacityReservations {
  readonly #api: AwsApi;
  readonly #clock: Clock;
  readonly #query: CachedQuery<readonly ReservationTerm[], readonly CapacityReservation[]>;

  constructor(api: AwsApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
    this.#query = new CachedQuery(clock, KEPT_MS, (terms, signal) => this.#ask(terms, signal));
  }

  /** The active reservations that any of the terms selects, by ID. */
  async select(
    terms: readonly ReservationTerm[],
    signal: AbortSignal,
    maxAgeMs?: number,
  ): Promise<readonly CapacityReservation[]> {
    if (terms.length === 0) return [];
    const found = await this.#query.get(terms, signal, maxAgeMs);
    const now = this.#clock.now();
    return found.filter(({ endsAt }) => endsAt === undefined || endsAt > now);
  }

  /** When the answer to these terms was asked for, by `clock.elapsed()`. */
  countedAt(terms: readonly ReservationTerm[]): number {
    return this.#query.askedAt(terms) ?? this.#clock.elapsed();
  }

  async #ask(terms: readonly ReservationTerm[], signal: AbortSignal): Promise<readonly CapacityReservation[]> {
    const answers = await Promise.all(queries(terms).map((input) => this.#describe(input, signal)));
    const byId = new Map<string, CapacityReservation>();
    for (const described of answers.flat()) {
      const reservation = reservationOf(described);
      if (reservation !== undefined) byId.set(reservation.id, reservation);
    }
    return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** An unknown ID selects nothing, and must not hide the other reservations. */
  async #describe(input: DescribeCapacityReservationsCommandInput, signal: AbortSignal): Promise<readonly Described[]> {
    const { CapacityReservationIds: ids = [] } = input;
    try {
      return await allPages(
        this.#api,
        'ec2:DescribeCapacityReservations',
        input,
        (page) => page.CapacityReservations,
        signal,
      );
    } catch (error) {
      if (!isNotFound(error) || ids.length === 0) throw error;
      if (ids.length === 1) return [];
      const each = ids.map((id) => this.#describe({ ...input, CapacityReservationIds: [id] }, signal));
      return (await Promise.all(each)).flat();
    }
  }
}

/** Whether the machines of a reservation are about to be reclaimed. */
export function isExpiring({ type, endsAt }: Pick<CapacityReservation, 'type' | 'endsAt'>, now: EpochMs): boolean {
  return type === 'capacity-block' && endsAt !== undefined && endsAt - now <= BLOCK_ENDS_EARLY_MS;
}

/** Terms with an ID share one query. Every other term needs a query of its own. */
function queries(terms: readonly ReservationTerm[]): DescribeCapacityReservationsCommandInput[] {
  const active = { Name: 'state', Values: ['active'] };
  const ids = terms.flatMap(({ id }) => id ?? []);
  const others = terms.filter(({ id }) => id === undefined);
  return [
    ...(ids.length === 0 ? [] : [{ CapacityReservationIds: [...new Set(ids)], Filters: [active] }]),
    ...others.map((term) => ({ Filters: [active, ...filters(term)], MaxResults: 1000 })),
  ];
}

function filters({ ownerID, instanceMatchCriteria, type, instanceType, tags }: ReservationTerm): Filter[] {
  const match = instanceMatchCriteria ?? type;
  return [
    ...(ownerID === undefined ? [] : [{ Name: 'owner-id', Values: [ownerID] }]),
    ...(match === undefined ? [] : [{ Name: 'instance-match-criteria', Values: [match] }]),
    ...(instanceType === undefined ? [] : [{ Name: 'instance-type', Values: [instanceType] }]),
    ...tagFilters(tags),
  ];
}

/** Skips reservations that are not active, or of an unknown kind: EC2 also returns ended ones by ID. */
function reservationOf(described: Described): CapacityReservation | undefined {
  const { CapacityReservationId: id, InstanceType: instanceType, AvailabilityZone: zone } = described;
  const match = described.InstanceMatchCriteria;
  const type = described.ReservationType ?? 'default';
  if (id === undefined || instanceType === undefined || zone === undefined || described.State !== 'active')
    return undefined;
  if ((match !== 'open' && match !== 'targeted') || (type !== 'default' && type !== 'capacity-block')) return undefined;
  return {
    id,
    instanceType,
    zone,
    match,
    type,
    ownerId: described.OwnerId ?? '',
    interruptible: described.Interruptible ?? false,
    tenancy: described.Tenancy === 'dedicated' ? 'dedicated' : 'default',
    platform: described.InstancePlatform ?? 'Linux/UNIX',
    total: described.TotalInstanceCount ?? 0,
    free: described.AvailableInstanceCount ?? 0,
    ...(described.EndDate === undefined ? {} : { endsAt: described.EndDate.getTime() as EpochMs }),
  };
}
