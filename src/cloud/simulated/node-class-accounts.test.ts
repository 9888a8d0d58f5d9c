import { describe, expect, it } from 'vitest';
import type { Written } from '../../apis/schema/with-defaults.ts';
import { withDefaults } from '../../apis/schema/with-defaults.ts';
import type { SimulatedNodeClass, SimulatedNodeClassSpec } from '../../apis/spindrift/simulated-node-class.ts';
import { SIMULATED_NODE_CLASS_SPEC } from '../../apis/spindrift/simulated-node-class-schema.ts';
import { parseTimestamp } from '../../platform/clock.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { fieldError } from './field-reader.ts';
import { NodeClassAccounts } from './node-class-accounts.ts';
import { SimulatedCloud } from './simulated-cloud.ts';
import { aType } from './testkit/small-account.ts';

function aClass(spec: Written<SimulatedNodeClassSpec>): SimulatedNodeClass {
  return {
    apiVersion: 'spindrift.dev/v1alpha1',
    kind: 'SimulatedNodeClass',
    metadata: { name: 'default' },
    spec: withDefaults(SIMULATED_NODE_CLASS_SPEC, spec),
  };
}

function world() {
  const clock = new VirtualClock();
  const cloud = new SimulatedCloud({ clock, random: seededRandom('test') });
  const readCatalogue = (path: string) => {
    if (path === 'good.json') return [aType('small', 2)];
    throw fieldError(path, 'cannot be read:', 'no such file');
  };
  const accounts = new NodeClassAccounts({ cloud, readCatalogue });
  const sold = () => cloud.account('default')!.priceList(clock.now());
  return { cloud, accounts, sold };
}

describe('the account of a SimulatedNodeClass', () => {
  it('with an empty spec sells the whole catalogue in four zones, without trouble', () => {
    const { cloud, accounts, sold } = world();
    expect(accounts.apply(aClass({}))).toEqual({ ready: true, reason: 'Ready', message: '' });
    expect(sold().length).toBeGreaterThan(1000);
    const zones = new Set(sold().flatMap((type) => type.offerings.map(({ zone }) => zone)));
    expect([...zones].sort()).toEqual(['sim-1a', 'sim-1b', 'sim-1c', 'sim-1d']);
    expect(cloud.account('default')?.settings).toMatchObject({
      startMs: 1000,
      market: { noticeMs: 120_000, volatility: 0.05 },
      faults: { errorRate: 0, latencyMs: 0 },
    });
  });

  it('sells in the regions that the class names, at prices of their own', () => {
    const { accounts, sold } = world();
    const regions = [
      { name: 'sim-1', zones: ['sim-1a', 'sim-1b'] },
      { name: 'north', zones: ['north-1', 'north-2', 'north-3'] },
    ];
    accounts.apply(aClass({ regions }));
    const m5 = sold().find((type) => type.name === 'm5.large')!;
    const onDemand = new Map(
      m5.offerings
        .filter(({ capacityType }) => capacityType === 'on-demand')
        .map((offering) => [offering.zone, offering]),
    );
    expect([...onDemand.keys()]).toEqual(['sim-1a', 'sim-1b', 'north-1', 'north-2', 'north-3']);
    expect(onDemand.get('sim-1a')).toMatchObject({
      price: 0.096,
      labels: { 'topology.kubernetes.io/region': 'sim-1' },
    });
    expect(onDemand.get('north-3')!.price).toBeGreaterThan(0.096);
    expect(onDemand.get('north-3')).toMatchObject({ labels: { 'topology.kubernetes.io/region': 'north' } });
  });

  it('sells what a file lists, in the zones of the file', () => {
    const { accounts, sold } = world();
    accounts.apply(aClass({ catalogFile: 'good.json' }));
    expect(sold().map((type) => [type.name, type.offerings.map(({ zone }) => zone)])).toEqual([
      ['small', ['zone-a', 'zone-a', 'zone-b', 'zone-b']],
    ]);
  });

  it('has the market, the reservations, the overrides and the faults of the class', () => {
    const { cloud, accounts } = world();
    accounts.apply(
      aClass({
        catalogFile: 'good.json',
        seed: 'other',
        spotMarket: { capacityPerPool: 7, notice: '30s' },
        reservations: [{ id: 'r', instanceType: 'small', zone: 'zone-a', count: 2, endTime: '2030-06-01T00:00:00Z' }],
        overrides: [{ capacityType: 'spot', zone: 'zone-b', capacity: 0 }],
        faults: { latency: '250ms', requestsPerSecond: 9, hangRate: 0.5 },
        registrationDelay: '20s',
      }),
    );
    expect(cloud.account('default')?.settings).toMatchObject({
      seed: 'other',
      market: { capacityPerPool: 7, noticeMs: 30_000 },
      reservations: [{ id: 'r', count: 2, match: 'targeted', endsAt: parseTimestamp('2030-06-01T00:00:00Z') }],
      overrides: [{ capacityType: 'spot', zone: 'zone-b', capacity: 0 }],
      faults: { latencyMs: 250, requestsPerSecond: 9, hangRate: 0.5 },
      startMs: 20_000,
    });
    expect(cloud.account('default')?.settings.overrides[0]).not.toHaveProperty('instanceType');
  });

  it('keeps its catalogue while the class names the same one', () => {
    const { cloud, accounts } = world();
    accounts.apply(aClass({}));
    const before = cloud.account('default')?.settings.catalogue;
    accounts.apply(aClass({ faults: { errorRate: 0.1 } }));
    expect(cloud.account('default')?.settings.catalogue).toBe(before);
    accounts.apply(aClass({ catalogFile: 'good.json' }));
    expect(cloud.account('default')?.settings.catalogue).toHaveLength(1);
  });

  it('is not ready when its file cannot be read, and ready again when it can', () => {
    const { accounts } = world();
    expect(accounts.readiness('default')).toMatchObject({ ready: false, reason: 'NodeClassNotFound' });
    expect(accounts.apply(aClass({ catalogFile: 'bad.json' }))).toEqual({
      ready: false,
      reason: 'CatalogUnreadable',
      message: 'bad.json: cannot be read: no such file',
    });
    accounts.apply(aClass({ catalogFile: 'good.json' }));
    expect(accounts.readiness('default').ready).toBe(true);
    accounts.remove('default');
    expect(accounts.readiness('default').ready).toBe(false);
  });

  it('is not ready when nothing is sold in its regions, and says where something is', () => {
    const regions = [{ name: 'north', zones: ['north-1'] }];
    expect(world().accounts.apply(aClass({ catalogFile: 'good.json', regions }))).toEqual({
      ready: false,
      reason: 'RegionsInvalid',
      message: 'the catalogue sells nothing in these regions: name some of its zones, zone-a, zone-b',
    });
  });

  it('is not ready when a reservation is of something that is not sold, and says of what', () => {
    const { accounts } = world();
    const reservation = { id: 'r', instanceType: 'm5.huge', zone: 'sim-1a', count: 1 };
    expect(accounts.apply(aClass({ reservations: [reservation] }))).toEqual({
      ready: false,
      reason: 'ReservationInvalid',
      message: 'reservation r names instance type m5.huge, which the catalogue does not have: name one that it has',
    });
  });
});
