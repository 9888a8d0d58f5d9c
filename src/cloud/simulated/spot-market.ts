/**
 * The spot market of one account: for each pool (instance type × zone) a price that varies around its mean, and times at which machines are
 * reclaimed, each followed by a time without capacity. All of it is derived from the seed and the time, independent of who reads it and how
 * often.
 */
import type { EpochMs } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import type { SpotMarketSettings } from './account-settings.ts';
import { hashedUniform, valueNoise } from './value-noise.ts';

const HOUR_MS = 3_600_000;
/** Prices are constant for this long. */
export const PRICE_STEP_MS = 300_000;
/** In addition to hourly swings there are slower and larger ones. */
const SLOW_SWING_MS = 8 * HOUR_MS;
const LONGEST_DRY_SPELL_MS = 1_800_000;
/** How far ahead {@link SpotMarket.nextReclaim} looks. */
export const HORIZON_MS = 7 * 24 * HOUR_MS;

export class SpotMarket {
  readonly #random: Random;
  readonly #streams = new Map<string, number>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** The factor on the mean price of a pool at this moment. */
  priceFactor(pool: string, now: EpochMs, market: SpotMarketSettings): number {
    if (market.volatility === 0) return market.priceFactor;
    const stream = this.#stream(pool);
    const step = Math.floor(now / PRICE_STEP_MS) * PRICE_STEP_MS;
    const swing = 2 * valueNoise(stream, step / SLOW_SWING_MS) + valueNoise(stream + 1, step / HOUR_MS);
    return market.priceFactor * Math.exp(market.volatility * swing);
  }

  /** When the pool reclaims machines next; undefined if not within {@link HORIZON_MS}. */
  nextReclaim(pool: string, after: EpochMs, market: SpotMarketSettings): EpochMs | undefined {
    if (market.interruptionsPerHour <= 0) return undefined;
    const slot = slotMs(market);
    for (let place = Math.floor(after / slot); place * slot < after + HORIZON_MS; place++) {
      const at = this.#reclaimIn(pool, place, market);
      if (at !== undefined && at > after) return at as EpochMs;
    }
    return undefined;
  }

  /** Whether the pool has reclaimed machines so recently that it has no capacity. */
  isDry(pool: string, now: EpochMs, market: SpotMarketSettings): boolean {
    if (market.interruptionsPerHour <= 0) return false;
    const slot = slotMs(market);
    const longest = drySpellMs(market);
    for (let place = Math.floor(now / slot); (place + 1) * slot > now - longest; place--) {
      const at = this.#reclaimIn(pool, place, market);
      if (at === undefined || at > now) continue;
      if (at + longest * hashedUniform(this.#stream(pool) + 4, place) > now) return true;
    }
    return false;
  }

  #reclaimIn(pool: string, place: number, market: SpotMarketSettings): number | undefined {
    const stream = this.#stream(pool);
    const slot = slotMs(market);
    const chance = 1 - Math.exp((-market.interruptionsPerHour * slot) / HOUR_MS);
    if (hashedUniform(stream + 2, place) >= chance) return undefined;
    return Math.floor((place + hashedUniform(stream + 3, place)) * slot);
  }

  #stream(pool: string): number {
    let stream = this.#streams.get(pool);
    if (stream === undefined) {
      stream = Math.floor(this.#random.split(pool).next() * 0x1_0000_0000);
      this.#streams.set(pool, stream);
    }
    return stream;
  }
}

/** The name of a pool: `m5.large:zone-a`. */
export function poolName(instanceType: string, zone: string): string {
  return `${instanceType}:${zone}`;
}

/** The longest time without capacity after a pool has reclaimed machines. */
export function drySpellMs(market: SpotMarketSettings): number {
  return Math.min(LONGEST_DRY_SPELL_MS, (0.5 * HOUR_MS) / market.interruptionsPerHour);
}

/** Time is divided into slots so short that two events rarely fall into one. */
function slotMs(market: SpotMarketSettings): number {
  return Math.min(HOUR_MS, (0.1 * HOUR_MS) / market.interruptionsPerHour);
}
