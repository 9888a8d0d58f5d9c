import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../platform/clock.ts';
import { seededRandom } from '../../platform/random.ts';
import { type SpotMarketSettings, STILL_MARKET } from './account-settings.ts';
import { PRICE_STEP_MS, SpotMarket } from './spot-market.ts';

const START = 1_893_456_000_000 as EpochMs;
const HOUR_MS = 3_600_000;
const POOL = 'm5.large:zone-a';
const LIVELY: SpotMarketSettings = { ...STILL_MARKET, volatility: 0.1, interruptionsPerHour: 0.5 };

const market = (seed = 'test') => new SpotMarket(seededRandom(seed));
const at = (ms: number): EpochMs => (START + ms) as EpochMs;
const yearOfFactors = (pool = POOL, seed = 'test') => {
  const of = market(seed);
  return Array.from({ length: 365 * 24 }, (_, hour) => of.priceFactor(pool, at(hour * HOUR_MS), LIVELY));
};

describe('the price of a spot pool', () => {
  it('stays around its mean for a year, and moves', () => {
    const factors = yearOfFactors();
    const mean = factors.reduce((sum, factor) => sum + factor, 0) / factors.length;
    expect(mean).toBeCloseTo(1, 1);
    expect(Math.max(...factors)).toBeLessThan(Math.exp(0.3));
    expect(Math.min(...factors)).toBeGreaterThan(Math.exp(-0.3));
    expect(new Set(factors).size).toBeGreaterThan(8000);
  });

  it('moves from hour to hour by about the volatility, not all at once', () => {
    const factors = yearOfFactors();
    const steps = factors.slice(1).map((factor, hour) => Math.abs(Math.log(factor / factors[hour]!)));
    const typical = steps.reduce((sum, step) => sum + step, 0) / steps.length;
    expect(typical).toBeGreaterThan(0.03);
    expect(typical).toBeLessThan(0.2);
  });

  it('is the same for the same seed, whoever looked before, and another in another pool or for another seed', () => {
    const looked = market();
    for (let hour = 0; hour < 100; hour++) looked.priceFactor(POOL, at(hour * 1234567), LIVELY);
    expect(looked.priceFactor(POOL, at(HOUR_MS), LIVELY)).toBe(market().priceFactor(POOL, at(HOUR_MS), LIVELY));
    expect(yearOfFactors('m5.large:zone-b')).not.toEqual(yearOfFactors());
    expect(yearOfFactors(POOL, 'other')).not.toEqual(yearOfFactors());
  });

  it('stands still for five minutes, and for ever without volatility', () => {
    const of = market();
    const step = Math.ceil(START / PRICE_STEP_MS) * PRICE_STEP_MS - START;
    expect(of.priceFactor(POOL, at(step), LIVELY)).toBe(of.priceFactor(POOL, at(step + PRICE_STEP_MS - 1), LIVELY));
    expect(of.priceFactor(POOL, at(0), { ...STILL_MARKET, priceFactor: 2 })).toBe(2);
  });
});

describe('the capacity of a spot pool', () => {
  it('is taken back as often as was set, at times that do not depend on where one looks from', () => {
    const of = market();
    const times: EpochMs[] = [];
    let now = START;
    while (now < at(2000 * HOUR_MS)) {
      const next = of.nextReclaim(POOL, now, LIVELY);
      now = next ?? at(2000 * HOUR_MS);
      if (next !== undefined) times.push(next);
    }
    expect(times.length).toBeGreaterThan(900);
    expect(times.length).toBeLessThan(1100);
    for (const [index, time] of times.slice(1).entries())
      expect(of.nextReclaim(POOL, (time - 1) as EpochMs, LIVELY), `${index}`).toBe(time);
  });

  it('is gone for a while after that, and comes back', () => {
    const of = market();
    const time = of.nextReclaim(POOL, START, LIVELY) as EpochMs;
    expect(of.isDry(POOL, (time - 1) as EpochMs, LIVELY)).toBe(false);
    expect(of.isDry(POOL, (time + 1) as EpochMs, LIVELY)).toBe(true);
    const minutes = Array.from({ length: 60 * 24 * 30 }, (_, minute) => of.isDry(POOL, at(minute * 60_000), LIVELY));
    const dry = minutes.filter(Boolean).length / minutes.length;
    expect(dry).toBeGreaterThan(0.03);
    expect(dry).toBeLessThan(0.3);
  });

  it('is never taken back in a still market, and very often in a wild one', () => {
    const of = market();
    expect(of.nextReclaim(POOL, START, STILL_MARKET)).toBeUndefined();
    expect(of.isDry(POOL, START, STILL_MARKET)).toBe(false);
    const next = of.nextReclaim(POOL, START, { ...LIVELY, interruptionsPerHour: 3600 }) as EpochMs;
    expect(next - START).toBeLessThan(30_000);
  });
});
