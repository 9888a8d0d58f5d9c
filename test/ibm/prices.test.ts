import { describe, expect, it } from 'vitest';
import { IbmApi } from '../../src/cloud/ibm/api/ibm-api.ts';
import { CataloguePrices, hourlyPrice } from '../../src/cloud/ibm/prices/catalogue-prices.ts';
import { PriceBook } from '../../src/cloud/ibm/prices/price-book.ts';
import type { MachineShape } from '../../src/cloud/ibm/profiles/machine-shape.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { VirtualClock } from '../../src/platform/virtual-clock.ts';
import { listPrice } from './server/catalogue-routes.ts';
import { IbmServer } from './server/ibm-server.ts';
import { PROFILES } from './server/profiles.ts';
import { wireless } from './testkit/wireless.ts';

const shape = (name: string): MachineShape => {
  const { vcpu, memoryGiB, gpu } = PROFILES.find((one) => one.name === name) ?? { vcpu: 2, memoryGiB: 4 };
  const [family = '', size = ''] = name.split('-');
  const known = gpu === undefined ? {} : { gpu: { ...gpu } };
  return {
    name,
    family,
    size,
    vcpu,
    memoryGiB,
    architecture: 'amd64',
    capacityTypes: [],
    localStorageGB: 0,
    zones: undefined,
    ...known,
  };
};

function world(unpriced: readonly string[] = []) {
  const clock = new VirtualClock();
  const server = new IbmServer({ clock, random: seededRandom('prices'), unpriced: new Set(unpriced) });
  const api = new IbmApi({ service: wireless(server)('http://ibm.test/api/v1'), clock });
  const catalogue = new CataloguePrices({ api });
  const book = new PriceBook({
    clock,
    logger: SILENT_LOGGER,
    read: (region, signal) => catalogue.onDemand(region, signal),
  });
  return { clock, server, catalogue, book, signal: new AbortController().signal };
}

describe('prices of the Global Catalog', () => {
  it('are found through plans and deployments, for both ways of metering, in the region that is asked for', async () => {
    const { catalogue, signal } = world();
    const prices = await catalogue.onDemand('us-south', signal);
    expect(prices.size).toBe(PROFILES.length);
    for (const profile of PROFILES) expect(prices.get(profile.name)).toBeCloseTo(listPrice(profile), 10);
  });

  it('leave out operating systems, other currencies, tiers and quantities that are odd', () => {
    const usd = (price: number) => [{ country: 'USA', currency: 'USD', prices: [{ quantity_tier: 1, price }] }];
    const metric = { charge_unit_quantity: 1, tier_model: 'Linear Tier' };
    expect(
      hourlyPrice('bx2-4x16', {
        metrics: [
          { ...metric, charge_unit_name: 'VCPU_HOURS', amounts: usd(0.111) },
          { ...metric, charge_unit_name: 'MEMORY_HOURS', amounts: usd(0.09) },
          { ...metric, charge_unit_name: 'WINDOWS_HOURS', amounts: usd(7) },
          { ...metric, charge_unit_name: 'MEMORY_HOURS', charge_unit_quantity: 1000, amounts: usd(9) },
          {
            ...metric,
            charge_unit_name: 'VCPU_HOURS',
            amounts: [{ country: 'DEU', currency: 'EUR', prices: [{ quantity_tier: 1, price: 5 }] }],
          },
        ],
      }),
    ).toBeCloseTo(0.201, 10);
    expect(
      hourlyPrice('gx2-8x64x1v100', { metrics: [{ ...metric, charge_unit_name: 'V100_HOURS', amounts: usd(2.1) }] }),
    ).toBe(2.1);
    expect(hourlyPrice('x', { metrics: [] })).toBeUndefined();
  });
});

describe('PriceBook', () => {
  it('begins with the built-in table, which knows no GPUs, and goes over to the catalogue', async () => {
    const { book, signal } = world();
    expect(book.onDemand('us-south', shape('bx2-4x16'))).toBeCloseTo(0.201, 10);
    expect(book.onDemand('us-south', shape('gx3-16x80x1l4'))).toBeUndefined();
    await book.refresh('us-south', signal);
    expect(book.onDemand('us-south', shape('gx3-16x80x1l4'))).toBeCloseTo(
      listPrice(shape('gx3-16x80x1l4') as never),
      10,
    );
    expect(book.version).toBe(1);
  });

  it('does not make up a price for a profile that the catalogue does not sell', async () => {
    const { book, signal } = world(['bxf-4x16']);
    await book.refresh('us-south', signal);
    expect(book.onDemand('us-south', shape('bxf-4x16'))).toBeUndefined();
  });

  it('keeps what it knew while the catalogue is down, and reads again every twelve hours', async () => {
    const { clock, server, book, signal } = world();
    await book.refresh('us-south', signal);
    const before = book.onDemand('us-south', shape('bxf-4x16')) ?? 0;
    server.catalogue.factor = 2;
    await book.refresh('us-south', signal);
    expect(book.onDemand('us-south', shape('bxf-4x16'))).toBe(before);
    await clock.advance(12 * 3_600_000);
    server.catalogue.down = true;
    await clock.run(book.refresh('us-south', signal));
    expect(book.onDemand('us-south', shape('bxf-4x16'))).toBe(before);
    server.catalogue.down = false;
    await clock.advance(5 * 60_000);
    await book.refresh('us-south', signal);
    expect(book.onDemand('us-south', shape('bxf-4x16'))).toBeCloseTo(2 * before, 10);
  });
});
