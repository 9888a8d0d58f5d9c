/**
 * The settings of an account in the simulated cloud. Each SimulatedNodeClass describes one. Accounts share nothing, so faults in one do not
 * affect another.
 */
import type { InstanceType } from '../../engine/problem.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { OfferingName } from '../offering-key.ts';

/** Matches offerings by the given fields. */
export type OfferingPattern = Partial<Omit<OfferingName, 'reservationId'>>;

export interface Region {
  readonly name: string;
  readonly zones: readonly string[];
}

/** How the prices and the capacity of spot pools move. */
export interface SpotMarketSettings {
  /** How far prices move within an hour, as a share of the price. */
  readonly volatility: number;
  /** Factor on all spot prices. */
  readonly priceFactor: number;
  /** Number of instances in each pool; absent means unlimited. */
  readonly capacityPerPool?: number;
  /** How often each pool reclaims instances; afterwards it has no capacity for a while. */
  readonly interruptionsPerHour: number;
  /** The share of its instances that a pool reclaims at a time. */
  readonly interruptedShare: number;
  /** The probability that another pool of the zone reclaims at the same time. */
  readonly correlation: number;
  /** The warning before an interrupted instance is gone. */
  readonly noticeMs: number;
}

/** Capacity that is paid for, whether used or not. */
export interface ReservationSettings {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly count: number;
  /** An open reservation also takes matching on-demand launches; a targeted one only launches that name it. */
  readonly match: 'open' | 'targeted';
  /** Its instances continue as on-demand after that. */
  readonly endsAt?: EpochMs;
}

/** Exceptions for some offerings. If several match, the last one wins, field by field. */
export interface OfferingOverride extends OfferingPattern {
  /** Number of instances available. */
  readonly capacity?: number;
  readonly priceFactor?: number;
}

/** How the cloud's API misbehaves. */
export interface FaultSettings {
  /** How long each call takes. */
  readonly latencyMs: number;
  /** Calls beyond this rate are throttled; absent means no limit. */
  readonly requestsPerSecond?: number;
  /** The share of calls that fail with an internal error. */
  readonly errorRate: number;
  /** The share of launches that are never answered. */
  readonly hangRate: number;
  /** The share of failing or hanging calls that are executed all the same: the worst case, because the caller cannot know. */
  readonly carriedOutShare: number;
  /** The share of launches that find no capacity. */
  readonly launchFailureRate: number;
  /** The share of machines that never become a node. */
  readonly registrationFailureRate: number;
  /** The share of its type's cpu and memory that a joining node lacks; absent means none. */
  readonly missingCapacity?: number;
  /** How long lists do not show a new instance. */
  readonly consistencyDelayMs: number;
  /** Launches fail for lack of a permission. */
  readonly denied?: boolean;
  /** Limit on the account's instances; absent means unlimited. */
  readonly quota?: number;
  /** Lists fail; all other calls work. */
  readonly listsFail?: boolean;
}

/**
 * The form of an account's API, modelled on real clouds; see docs/writing-a-cloud.md.
 * - plain: one call launches one machine, and a token makes repeats one launch
 * - fleet: one call takes many offerings; a token replays its first result; an answer can have a machine and refusals
 * - late-failure: every create succeeds, and some machines fail seconds later; names are the only key
 * - operations: a create returns an operation that may fail later; names are unique per zone; stopped machines stay
 * - leftovers: a failed create leaves parts behind; interrupted machines stay deallocated; IDs change case
 * - machines: the provider ID is known minutes later; an outside controller adds machines
 */
export const DIALECTS = ['plain', 'fleet', 'late-failure', 'operations', 'leftovers', 'machines'] as const;
export type DialectName = (typeof DIALECTS)[number];

export interface AccountSettings {
  /** Default `plain`. */
  readonly dialect?: DialectName;
  readonly regions: readonly Region[];
  /** The catalogue, with mean prices. */
  readonly catalogue: readonly InstanceType[];
  /** Default: the cloud's own seed. */
  readonly seed?: string;
  readonly market: SpotMarketSettings;
  readonly reservations: readonly ReservationSettings[];
  readonly overrides: readonly OfferingOverride[];
  readonly faults: FaultSettings;
  /** Time from launch until a machine runs. */
  readonly startMs: number;
  /** Time from termination until a machine is gone. */
  readonly stopMs: number;
}

/** A market without changes. */
export const STILL_MARKET: SpotMarketSettings = {
  volatility: 0,
  priceFactor: 1,
  interruptionsPerHour: 0,
  interruptedShare: 1,
  correlation: 0,
  noticeMs: 120_000,
};

export const NO_FAULTS: FaultSettings = {
  latencyMs: 0,
  errorRate: 0,
  hangRate: 0,
  carriedOutShare: 0.5,
  launchFailureRate: 0,
  registrationFailureRate: 0,
  consistencyDelayMs: 0,
};

/** Whether the wide pattern matches everything that the narrow one matches. */
export function covers(wide: OfferingPattern, narrow: OfferingPattern): boolean {
  return (
    (wide.capacityType === undefined || wide.capacityType === narrow.capacityType) &&
    (wide.instanceType === undefined || wide.instanceType === narrow.instanceType) &&
    (wide.zone === undefined || wide.zone === narrow.zone)
  );
}
