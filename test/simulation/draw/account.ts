/** The cloud account of a simulated cluster. */
import {
  type AccountSettings,
  NO_FAULTS,
  type ReservationSettings,
  type SpotMarketSettings,
  STILL_MARKET,
} from '../../../src/cloud/simulated/account-settings.ts';
import type { InstanceType } from '../../../src/engine/problem.ts';
import type { EpochMs } from '../../../src/platform/clock.ts';
import type { Random } from '../../../src/platform/random.ts';
import { chance, maybe } from './chance.ts';

export const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;
/** The instance types: cores and GiB of memory. */
export const TYPES = { small: [2, 8], medium: [4, 16], roomy: [4, 32], large: [8, 32] } as const;
export type TypeName = keyof typeof TYPES;
export const TYPE_NAMES = Object.keys(TYPES) as TypeName[];

/** When the virtual clock starts. */
const BEGINNING = Date.UTC(2030, 0, 1);
const GIB = 1024 ** 3;
/** Millicores that a node reserves for itself. */
const OVERHEAD_CPU = 100;

export function drawAccount(random: Random): AccountSettings {
  const types = TYPE_NAMES.map((name) => drawType(random, name));
  return {
    regions: [{ name: 'region-1', zones: ZONES }],
    catalogue: types,
    market: chance(random, 0.4) ? drawMarket(random) : STILL_MARKET,
    reservations: Array.from({ length: random.pick([0, 0, 1, 2]) }, (_, index) => drawReservation(random, index)),
    overrides: [],
    faults: { ...NO_FAULTS, latencyMs: 200 },
    startMs: random.pick([10_000, 20_000, 45_000]),
    stopMs: 5_000,
  };
}

function drawMarket(random: Random): SpotMarketSettings {
  return {
    volatility: random.pick([0, 0.1, 0.3]),
    priceFactor: 1,
    interruptionsPerHour: random.pick([0.1, 0.5, 1]),
    interruptedShare: random.pick([0.3, 1]),
    correlation: random.pick([0, 0.4]),
    noticeMs: random.pick([120_000, 30_000]),
  };
}

function drawType(random: Random, name: TypeName): InstanceType {
  const [cores, gib] = TYPES[name];
  const mean = cores * 0.04 + gib * 0.004;
  const offerings = ZONES.flatMap((zone) => [
    { zone, capacityType: 'on-demand' as const, price: round(mean) },
    { zone, capacityType: 'spot' as const, price: round(mean * random.between(0.25, 0.6)) },
  ]);
  return {
    name,
    labels: { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/os': 'linux' },
    capacity: { cpu: 1000 * cores, memory: GIB * gib, pods: 110 },
    overhead: { cpu: OVERHEAD_CPU, memory: GIB / 4 },
    offerings,
  };
}

function drawReservation(random: Random, index: number): ReservationSettings {
  return {
    id: `reservation-${index}`,
    instanceType: random.pick(TYPE_NAMES),
    zone: random.pick(ZONES),
    count: 1 + random.below(3),
    match: random.pick(['open', 'targeted']),
    ...maybe(random, 0.3, () => ({ endsAt: (BEGINNING + random.between(0.5, 4) * 3_600_000) as EpochMs })),
  };
}

function round(price: number): number {
  return Math.round(price * 1e4) / 1e4;
}
