import { describe, expect, it } from 'vitest';
import { compileModel } from './compile/model.ts';
import { aPod, aProblem, aType, GIB, onDemand } from './testkit/builders.ts';
import { unitPrices, worth } from './unit-prices.ts';

function model(...types: readonly [cpu: number, gib: number, price: number][]) {
  const instanceTypes = types.map(([cpu, gib, price], index) =>
    aType({ name: `t${index}`, capacity: { cpu, memory: gib * GIB, pods: 1e6 }, offerings: onDemand(price, 'a') }),
  );
  return compileModel(aProblem({ pods: [aPod()], instanceTypes }), { preferences: false, preferenceSlack: 0 });
}

describe('prices of resources', () => {
  it('value the demand at what the cheapest mix of machines costs', () => {
    // One type has more vCPUs, one more memory; both are needed in equal parts.
    const compiled = model([4000, 8, 1], [2000, 16, 1.2]);
    const demand = Float64Array.of(6000, 24 * GIB, 2);
    expect(worth(unitPrices(compiled, demand), demand)).toBeCloseTo(2.2, 6);
  });

  it('let no machine hold more worth than it costs', () => {
    const compiled = model([4000, 8, 1], [2000, 16, 1.2], [16_000, 32, 3.9], [1000, 64, 3]);
    for (const demand of [Float64Array.of(1, 1, 1), Float64Array.of(9000, GIB, 5), Float64Array.of(100, 99 * GIB, 1)]) {
      const prices = unitPrices(compiled, demand);
      for (let option = 0; option < compiled.catalogue.optionCount; option++) {
        const { alloc, optionTemplate, optionPrice, dimensions } = compiled.catalogue;
        const row = (optionTemplate[option] as number) * dimensions;
        expect(worth(prices, alloc, row)).toBeLessThanOrEqual((optionPrice[option] as number) + 1e-9);
      }
    }
  });

  it('give no price to what nobody asks for', () => {
    expect([...unitPrices(model([4000, 8, 1]), Float64Array.of(0, GIB, 0))]).toEqual([0, 1 / (8 * GIB), 0]);
  });
});
