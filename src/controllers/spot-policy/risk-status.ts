/** Writes risk on SpotPolicies, and reads it back after a restart. Pure. */
import type { SpotPolicyStatus } from '../../apis/spindrift/spot-policy.ts';
import type { KnownRisk } from '../../engine/risk/risk-model.ts';
import { spotPoolKey } from '../../engine/spot/spot-pool.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';

type RiskyPools = NonNullable<SpotPolicyStatus['riskiest']>;

/** Most spot pools written. */
const MOST = 20;
/** Fewer decayed events than this are not written. */
const LEAST_EVENTS = 0.05;
/** A rate that changed by less is not written again. */
const STEP = 0.01;

/** The risk to write; the already written list while no rate changed much. */
export function writeRisks(
  known: readonly (KnownRisk & { readonly rate: number })[],
  written: RiskyPools | undefined,
): RiskyPools {
  const riskiest: RiskyPools = known
    .filter(({ events }) => events >= LEAST_EVENTS)
    .sort((a, b) => b.rate - a.rate || (spotPoolKey(a) < spotPoolKey(b) ? -1 : 1))
    .slice(0, MOST)
    .map(({ instanceType, zone, rate, events, nodeHours, at }) => ({
      instanceType,
      zone,
      interruptionsPerHour: rounded(rate),
      events: rounded(events),
      nodeHours: rounded(nodeHours),
      at: toTimestamp(at as EpochMs),
    }));
  return written !== undefined && isAlike(written, riskiest) ? written : riskiest;
}

/** Reads the written risk. */
export function readRisks(status: SpotPolicyStatus | undefined): KnownRisk[] {
  return (status?.riskiest ?? []).flatMap(({ instanceType, zone, events, nodeHours, at }) => {
    const time = parseTimestamp(at);
    return time === undefined ? [] : [{ instanceType, zone, events, nodeHours, at: time }];
  });
}

function isAlike(a: RiskyPools, b: RiskyPools): boolean {
  const rates = (pools: RiskyPools): ReadonlyMap<string, number> =>
    new Map(pools.map((pool) => [spotPoolKey(pool), pool.interruptionsPerHour]));
  const [before, after] = [rates(a), rates(b)];
  return (
    before.size === after.size &&
    [...after].every(([pool, rate]) => Math.abs((before.get(pool) ?? Number.POSITIVE_INFINITY) - rate) < STEP)
  );
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
