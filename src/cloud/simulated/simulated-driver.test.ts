import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { Launchers } from '../launchers.ts';
import { type Machine, machineOf } from '../machine.ts';
import { openedClouds } from '../testkit/opened-clouds.ts';
import { UnavailableOfferings } from '../unavailable-offerings.ts';
import { NO_FAULTS, STILL_MARKET } from './account-settings.ts';
import { SimulatedCloud } from './simulated-cloud.ts';
import { SimulatedDriver } from './simulated-driver.ts';
import { anAccount } from './testkit/small-account.ts';

const NEVER = new AbortController().signal;
const SPOT: RankedOffering = { instanceType: 'small', zone: 'zone-a', capacityType: 'spot', price: 0.03 };
const DAY_MS = 24 * 3_600_000;

function aClaim(number: number, account: string, providerID?: string): NodeClaim {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: `claim-${number}`, uid: `uid-${number}`, labels: {} },
    spec: {
      nodeClassRef: { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: account },
      requirements: [],
      expireAfter: '720h',
    },
    ...(providerID !== undefined && { status: { providerID } }),
  };
}

function world() {
  const clock = new VirtualClock();
  const cloud = new SimulatedCloud({ clock, random: seededRandom('test') });
  cloud.configure('calm', anAccount());
  cloud.configure('stormy', anAccount());
  const start = async (cluster = 'test', unavailable = new UnavailableOfferings({ clock })) => {
    const driver = new SimulatedDriver({ clock, cloud, cluster });
    const clouds = await openedClouds({ cloud: driver, clock, unavailable });
    const launchers = new Launchers({ clouds, clock });
    const create = async (claim: NodeClaim, offerings: readonly RankedOffering[]): Promise<Machine> => {
      launchers.made(claim);
      const answer = await clock.run(launchers.launch(claim, offerings, NEVER));
      if (answer.kind === 'launched') return answer.machine;
      throw new Error('pending');
    };
    const sold = (account: string, pool?: string): Promise<readonly InstanceType[]> =>
      clock.run(clouds.instanceTypes(aClaim(0, account).spec.nodeClassRef, NEVER, pool));
    const list = async (): Promise<readonly Machine[]> =>
      (await clock.run(Promise.all(driver.scopes().map((scope) => driver.list(scope, NEVER))))).flat();
    const notices = () => driver.noticeSources[0]!.receive(NEVER)[Symbol.asyncIterator]();
    return { driver, clouds, create, sold, list, notices };
  };
  return { clock, cloud, start };
}

describe('the driver of the simulated cloud', () => {
  it('launches and deletes in one account while another does not answer', async () => {
    const { clock, cloud, start } = world();
    const { clouds, create } = await start();
    cloud.configure('stormy', anAccount({ faults: { ...NO_FAULTS, errorRate: 1 } }));
    const claim = aClaim(1, 'calm');
    await create(claim, [SPOT]);
    expect(await clock.run(clouds.delete(claim, machineOf(claim), NEVER))).toBe('terminating');
    expect(await clock.run(clouds.list(NEVER))).toMatchObject([
      { scope: 'simulated/calm', machines: [{ claim: { uid: 'uid-1' } }] },
      { scope: 'simulated/stormy', error: { code: 'CLOUD_UNAVAILABLE' } },
    ]);
  });

  it('sells in one account what has run out, or was taken back, in another', async () => {
    const { clock, cloud, start } = world();
    const { clouds, create, sold } = await start();
    const healthy = async (account: string): Promise<boolean> => {
      const offerings = (await sold(account)).find(({ name }) => name === SPOT.instanceType)?.offerings ?? [];
      return offerings.some(
        ({ zone, capacityType, healthy: is }) => zone === SPOT.zone && capacityType === 'spot' && is !== false,
      );
    };
    cloud.configure('stormy', anAccount({ overrides: [{ ...SPOT, capacity: 0 }] }));
    await expect(create(aClaim(1, 'stormy'), [SPOT])).rejects.toMatchObject({ code: 'CLOUD_INSUFFICIENT_CAPACITY' });
    expect([await healthy('stormy'), await healthy('calm')]).toEqual([false, true]);
    await clock.advance(180_000);
    expect(await healthy('stormy')).toBe(true);
    const { labels } = await create(aClaim(2, 'calm'), [SPOT]);
    const claim = aClaim(2, 'calm');
    clouds.takenBack({ ...claim, metadata: { ...claim.metadata, labels } });
    expect([await healthy('stormy'), await healthy('calm')]).toEqual([true, false]);
  });

  it('sells to each pool what that one may try again, as one array where they see the same', async () => {
    const { clock, cloud, start } = world();
    const reservations = [{ id: 'r', instanceType: 'large', zone: 'zone-a', count: 1, match: 'targeted' as const }];
    cloud.configure('calm', anAccount({ reservations }));
    const unavailable = new UnavailableOfferings({ clock, ttlMs: (pool) => (pool === 'hasty' ? 1000 : 60_000) });
    const { sold } = await start('test', unavailable);
    expect(await sold('calm', 'hasty')).toBe(await sold('calm', 'patient'));
    const { price: _, ...spot } = SPOT;
    unavailable.mark({ ...spot, scope: 'simulated/calm' }, 'no capacity');
    unavailable.mark({ ...spot, scope: 'elsewhere/calm' }, 'no capacity');
    expect(await sold('calm', 'hasty')).toBe(await sold('calm', 'patient'));
    await clock.advance(1000);
    const [hasty, patient] = [await sold('calm', 'hasty'), await sold('calm', 'patient')];
    const differ = hasty.filter((type, index) => type !== patient[index]).map(({ name }) => name);
    expect(differ).toEqual([SPOT.instanceType]);
    expect([await sold('calm', 'hasty'), await sold('calm', 'patient')]).toEqual([hasty, patient]);
    await clock.advance(59_000);
    expect(await sold('calm', 'patient')).toBe(hasty);
  });

  it('leaves the machines of another cluster alone', async () => {
    const { clock, start } = world();
    const [ours, other] = [await start(), await start('other')];
    const claim = aClaim(1, 'calm');
    await other.create(claim, [SPOT]);
    expect(await ours.list()).toEqual([]);
    expect(await clock.run(ours.clouds.delete(claim, machineOf(claim), NEVER))).toBe('gone');
    expect(await other.list()).toHaveLength(1);
  });

  it('sees prices that have moved, and then lists anew', async () => {
    const { clock, cloud, start } = world();
    cloud.configure('calm', anAccount({ market: { ...STILL_MARKET, volatility: 0.2 } }));
    const { sold } = await start();
    const prices = async () => (await sold('calm')).flatMap((type) => type.offerings.map(({ price }) => price));
    const before = await prices();
    await clock.advance(3_600_000);
    expect(await prices()).not.toEqual(before);
  });

  it('finds a machine drifted whose zone, or whose reservation, the class no longer has', async () => {
    const { clock, cloud, start } = world();
    const reservations = [{ id: 'r', instanceType: 'small', zone: 'zone-a', count: 1, match: 'targeted' as const }];
    cloud.configure('calm', anAccount({ reservations }));
    const { clouds, create, sold } = await start();
    const spot = await create(aClaim(1, 'calm'), [SPOT]);
    const reserved = await create(aClaim(2, 'calm'), [{ ...SPOT, capacityType: 'reserved', reservationId: 'r' }]);
    const drift = async ({ providerID }: Machine) => {
      await sold('calm');
      return (await clock.run(clouds.drift(aClaim(1, 'calm', providerID), NEVER)))?.reason;
    };
    expect([await drift(spot), await drift(reserved)]).toEqual([undefined, undefined]);
    cloud.configure('calm', anAccount());
    await clock.advance(60_000);
    expect([await drift(spot), await drift(reserved)]).toEqual([undefined, 'CapacityReservationDrift']);
    cloud.configure('calm', anAccount({ regions: [{ name: 'region-1', zones: ['zone-b'] }] }));
    await clock.advance(60_000);
    expect(await drift(spot)).toBe('ZoneDrift');
  });

  it('hears every kind of notice that the cloud gives, but not those of last week', async () => {
    const { clock, cloud, start } = world();
    const { driver, create, notices } = await start();
    const { providerID } = await create(aClaim(1, 'calm'), [SPOT]);
    cloud.announce(providerID, 'rebalance', 'old');
    await clock.advance(7 * DAY_MS);
    cloud.announce(providerID, 'scheduled-maintenance', 'new', clock.now());
    const heard = await clock.run(notices().next());
    const machine = driver.machineKey(providerID);
    expect(heard.value).toMatchObject({ kind: 'scheduled-maintenance', machine, detail: 'new', deadline: clock.now() });
  });
});
