/** The capacity reservations that node classes select, and how many slots they had when EC2 was last asked. */
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
/** EC2 takes the machines of a capacity block back half an hour before it ends; ten minutes more are for those on them. */
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

  /** An ID that EC2 does not know selects nothing, and must not hide the others. */
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

/** Whether the machines of a reservation are about to be taken back. */
export function isExpiring({ type, endsAt }: Pick<CapacityReservation, 'type' | 'endsAt'>, now: EpochMs): boolean {
  return type === 'capacity-block' && endsAt !== undefined && endsAt - now <= BLOCK_ENDS_EARLY_MS;
}

/** Terms that name an ID are one question; each of the others is one of its own. */
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

/** One that is of a kind we do not know, or not active, is left out: EC2 also answers to IDs of those that have ended. */
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
