import type { RankedOffering } from '../../engine/solution.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { type CloudUnderTest, describeCloud, type Trouble } from '../cloud.conformance.ts';
import { aReadyNodeClass } from '../testkit/opened-clouds.ts';
import { DIALECTS, type DialectName, type FaultSettings, NO_FAULTS } from './account-settings.ts';
import { NODE_CLASS_KIND } from './node-class-kind.ts';
import { SimulatedCloud } from './simulated-cloud.ts';
import { SimulatedDriver } from './simulated-driver.ts';
import { anAccount } from './testkit/small-account.ts';

const FAULTS: Readonly<Record<Trouble, Partial<FaultSettings>>> = {
  hang: { hangRate: 1, carriedOutShare: 0 },
  'lost-answer': { hangRate: 1, carriedOutShare: 1 },
  throttled: { requestsPerSecond: 1e-6 },
  denied: { denied: true },
  quota: { quota: 0 },
  'server-error': { errorRate: 1 },
};

for (const dialect of DIALECTS) {
  describeCloud(`simulated, ${dialect}`, async () => simulated(dialect, { consistencyDelayMs: 0, latencyMs: 0 }));
  describeCloud(`simulated, ${dialect}, slow to answer and to show`, async () =>
    simulated(dialect, { consistencyDelayMs: 20_000, latencyMs: 700 }),
  );
}

function simulated(dialect: DialectName, faults: Partial<FaultSettings>): CloudUnderTest {
  const clock = new VirtualClock();
  const cloud = new SimulatedCloud({ clock, random: seededRandom('conformance') });
  const settings = anAccount({
    dialect,
    faults: { ...NO_FAULTS, ...faults },
    reservations: [
      { id: 'projects/ours/reservations/r-1', instanceType: 'medium', zone: 'zone-b', count: 4, match: 'targeted' },
    ],
  });
  cloud.configure('ready', settings);
  let launches = 0;
  const ids = new Set<string>();
  cloud.fleet.onChange(({ id }) => {
    if (!ids.has(id)) launches++;
    ids.add(id);
  });
  const spot = (instanceType: string, zone: string, price: number): RankedOffering => ({
    instanceType,
    zone,
    capacityType: 'spot',
    price,
  });
  return {
    clock,
    driver: () => new SimulatedDriver({ clock, cloud, cluster: 'conformance' }),
    nodeClass: aReadyNodeClass({ nodeClass: NODE_CLASS_KIND }, 'ready'),
    offerings: [
      spot('small', 'zone-a', 0.03),
      spot('small', 'zone-b', 0.036),
      { instanceType: 'small', zone: 'zone-a', capacityType: 'on-demand', price: 0.1 },
    ],
    reserved: {
      offering: {
        instanceType: 'medium',
        zone: 'zone-b',
        capacityType: 'reserved',
        reservationId: 'projects/ours/reservations/r-1',
        price: 0.0002,
      },
      slots: 4,
    },
    launches: () => launches,
    leftovers: () => cloud.launchApi.countParts(),
    exhaust: ({ instanceType, zone, capacityType }) =>
      cloud.account('ready')?.override({ instanceType, zone, capacityType, capacity: 0 }),
    interrupt: (providerID) => void cloud.interrupt(providerID),
    trouble: (trouble) => {
      const wrong = trouble === undefined ? {} : FAULTS[trouble];
      cloud.configure('ready', { ...settings, faults: { ...settings.faults, ...wrong } });
    },
    settle: (promise) => clock.run(promise),
    pass: (milliseconds) => clock.advance(milliseconds),
  };
}
