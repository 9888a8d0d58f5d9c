import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InstanceType } from '../problem.ts';
import type { NewNode, RankedOffering } from '../solution.ts';
import { RiskModel } from './risk-model.ts';
import { atMarketPrices, RiskPrices } from './risk-prices.ts';

const HOUR = 3_600_000;
const TYPES: readonly InstanceType[] = ['small', 'large'].map((name) => ({
  name,
  capacity: { cpu: 2000 },
  offerings: ['a', 'b'].flatMap((zone) => [
    { zone, capacityType: 'spot' as const, price: 1 },
    { zone, capacityType: 'on-demand' as const, price: 3 },
  ]),
}));

function priceOf(types: readonly InstanceType[], name: string, zone: string, capacityType = 'spot'): number {
  const offerings = types.find((type) => type.name === name)?.offerings ?? [];
  return offerings.find((offering) => offering.zone === zone && offering.capacityType === capacityType)?.price ?? 0;
}

function takenBack(times: number, at = 0): RiskModel {
  const model = new RiskModel();
  for (let count = 0; count < times; count++) model.record({ instanceType: 'small', zone: 'a' }, 'interruption', at);
  return model;
}

describe('spot prices with risk in them', () => {
  it('are dearer where machines are taken back, and there alone', () => {
    const priced = new RiskPrices(takenBack(3)).of(TYPES, 1, 0);
    expect(priceOf(priced, 'small', 'a')).toBeCloseTo(1.3, 9);
    expect(priceOf(priced, 'small', 'a', 'on-demand')).toBe(3);
    expect(priceOf(priced, 'small', 'b')).toBe(1);
    expect(priced[1]).toBe(TYPES[1]);
  });

  it('are what they are while nothing is known, or where risk has no weight', () => {
    expect(new RiskPrices(new RiskModel()).of(TYPES, 1, 0)).toBe(TYPES);
    expect(new RiskPrices(takenBack(10)).of(TYPES, 0, 0)).toBe(TYPES);
  });

  it('count a pool of which nothing is known at the prior, where risk weighs so much that it matters', () => {
    const priced = new RiskPrices(new RiskModel()).of(TYPES, 200, 0);
    expect(priceOf(priced, 'large', 'b')).toBeCloseTo(1.1, 9);
  });

  it('are the same array until a price changes', () => {
    const model = takenBack(3);
    const prices = new RiskPrices(model);
    const before = prices.of(TYPES, 1, 0);
    expect(prices.of(TYPES, 1, 60_000)).toBe(before);
    expect(prices.of(TYPES, 2, 60_000)).not.toBe(before);
    expect(prices.of(TYPES, 1, 60_000)).toBe(before);
    const later = prices.of(TYPES, 1, 3 * HOUR);
    expect(later).not.toBe(before);
    model.record({ instanceType: 'not sold here', zone: 'a' }, 'interruption', 0);
    expect(prices.of(TYPES, 1, 3 * HOUR)).toBe(later);
  });

  it('are the given ones again when the risk has passed', () => {
    expect(new RiskPrices(takenBack(3)).of(TYPES, 1, 48 * HOUR)).toBe(TYPES);
  });

  it('never fall below the market, and rise with weight and with every interruption', () => {
    const facts = fc.record({ times: fc.nat({ max: 20 }), weight: fc.double({ min: 0, max: 100, noNaN: true }) });
    fc.assert(
      fc.property(facts, facts, (less, more) => {
        const [few, many] = [less.times, more.times].sort((a, b) => a - b) as [number, number];
        const [light, heavy] = [less.weight, more.weight].sort((a, b) => a - b) as [number, number];
        const cheap = priceOf(new RiskPrices(takenBack(few)).of(TYPES, light, 0), 'small', 'a');
        const dear = priceOf(new RiskPrices(takenBack(many)).of(TYPES, heavy, 0), 'small', 'a');
        expect(cheap).toBeGreaterThanOrEqual(1);
        expect(dear).toBeGreaterThanOrEqual(cheap);
      }),
    );
  });
});

describe('a plan at market prices', () => {
  const offering = (zone: string, price: number): RankedOffering => ({
    instanceType: 'small',
    zone,
    capacityType: 'spot',
    price,
  });
  const node: NewNode = {
    pool: 'general',
    requirements: [],
    offerings: [offering('b', 1), offering('a', 1.3)],
    price: 1,
    pods: [0],
    requests: {},
  };

  it('has the prices that are paid, in the order that was planned', () => {
    const paid = atMarketPrices(node, ({ zone }) => (zone === 'a' ? 0.9 : 1));
    expect(paid.offerings.map(({ zone, price }) => `${zone} ${price}`)).toEqual(['b 1', 'a 0.9']);
    expect(paid.price).toBe(1);
  });

  it('is the same plan where they are the prices it was made with', () => {
    expect(atMarketPrices(node, ({ price }) => price)).toBe(node);
  });
});
