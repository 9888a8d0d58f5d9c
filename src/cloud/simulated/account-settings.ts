/**
 * What an account with the simulated cloud is like. Each SimulatedNodeClass describes one: accounts share nothing, so that
 * trouble in one says nothing about another.
 */
import type { InstanceType } from '../../engine/problem.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { OfferingName } from '../offering-key.ts';

/** Some offerings: those that agree in everything that is said. */
export type OfferingPattern = Partial<Omit<OfferingName, 'reservationId'>>;

export interface Region {
  readonly name: string;
  readonly zones: readonly string[];
}

/** How the prices and the capacity of spot pools move. */
export interface SpotMarketSettings {
  /** How far prices move in an hour, as a share of the price. */
  readonly volatility: number;
  /** All spot prices times this. */
  readonly priceFactor: number;
  /** How many instances each pool has; absent means any number. */
  readonly capacityPerPool?: number;
  /** How often each pool takes instances back; after that it has nothing to give for a while. */
  readonly interruptionsPerHour: number;
  /** Which share of its instances a pool takes back at a time. */
  readonly interruptedShare: number;
  /** How likely each other pool of the zone does so at the same time. */
  readonly correlation: number;
  /** The warning before an interrupted instance goes. */
  readonly noticeMs: number;
}

/** Capacity that is paid for whether it is used or not. */
export interface ReservationSettings {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly count: number;
  /** An open one also takes on-demand launches that match it; a targeted one only those that name it. */
  readonly match: 'open' | 'targeted';
  /** Its instances go on as on-demand then. */
  readonly endsAt?: EpochMs;
}

/** What is different for some offerings; where several fit, the last one counts, for each field by itself. */
export interface OfferingOverride extends OfferingPattern {
  /** How many instances there are. */
  readonly capacity?: number;
  readonly priceFactor?: number;
}

/** How the cloud's API misbehaves. */
export interface FaultSettings {
  /** How long each call takes. */
  readonly latencyMs: number;
  /** Calls beyond this rate are refused; absent means no limit. */
  readonly requestsPerSecond?: number;
  /** Which share of the calls fails on the side of the cloud. */
  readonly errorRate: number;
  /** Which share of the launches is never answered. */
  readonly hangRate: number;
  /** Which share of the calls that fail or hang is carried out all the same; the worst case, as nobody hears of it. */
  readonly carriedOutShare: number;
  /** Which share of the launches finds no capacity. */
  readonly launchFailureRate: number;
  /** Which share of the machines never becomes a node. */
  readonly registrationFailureRate: number;
  /** Which share of what its type says a node lacks when it joins; absent means none. */
  readonly missingCapacity?: number;
  /** How long a new instance is not shown by lists. */
  readonly consistencyDelayMs: number;
  /** Launches are refused for want of a permission. */
  readonly denied?: boolean;
  /** How many instances the account may have; absent means any number. */
  readonly quota?: number;
  /** Lists fail; everything else works. */
  readonly listsFail?: boolean;
}

/**
 * How an account's API is shaped, after the clouds there are; docs/writing-a-cloud.md says what each stands for.
 * - plain: one call launches one machine, and a token makes it one launch
 * - fleet: one call takes many offerings; a token replays its first result; an answer can carry a machine and refusals
 * - late-failure: every create succeeds, and some machines turn out failed seconds later; names are the only key
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
  /** What is sold, with its mean prices. */
  readonly catalogue: readonly InstanceType[];
  /** Where chance starts; the cloud's own seed when absent. */
  readonly seed?: string;
  readonly market: SpotMarketSettings;
  readonly reservations: readonly ReservationSettings[];
  readonly overrides: readonly OfferingOverride[];
  readonly faults: FaultSettings;
  /** How long after its launch a machine runs. */
  readonly startMs: number;
  /** How long after it was told to a machine is gone. */
  readonly stopMs: number;
}

/** A market in which nothing moves. */
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

/** Whether all that the narrow one speaks of, the wide one speaks of too. */
export function covers(wide: OfferingPattern, narrow: OfferingPattern): boolean {
  return (
    (wide.capacityType === undefined || wide.capacityType === narrow.capacityType) &&
    (wide.instanceType === undefined || wide.instanceType === narrow.instanceType) &&
    (wide.zone === undefined || wide.zone === narrow.zone)
  );
}
