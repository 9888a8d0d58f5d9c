import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { instanceOf } from '../provider.ts';
import { Reservations } from '../reservations.ts';
import { UnavailableOfferings } from '../unavailable-offerings.ts';
import { NO_FAULTS, STILL_MARKET } from './account-settings.ts';
import { SimulatedCloud } from './simulated-cloud.ts';
import { SimulatedProvider } from './simulated-provider.ts';
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
  const provider = (cluster = 'test', unavailable = new UnavailableOfferings({ clock })) =>
    new SimulatedProvider({ clock, cloud, cluster, unavailable, reservations: new Reservations({ clock }) });
  return { clock, cloud, provider };
}

describe('SimulatedProvider', () => {
  it('launches and deletes from one account while another does not answer', async () => {
    const { clock, cloud, provider } = world();
    const of = provider();
    cloud.configure('stormy', anAccount({ faults: { ...NO_FAULTS, errorRate: 1 } }));
    const claim = aClaim(1, 'calm');
    await clock.run(of.create(claim, [SPOT], NEVER));
    expect(await clock.run(of.delete(instanceOf(claim), NEVER))).toBe('terminating');
    await expect(of.list(NEVER)).rejects.toMatchObject({ code: 'CLOUD_UNAVAILABLE' });
  });

  it('sells in one account what has run out, or was taken back, in another', async () => {
    const { clock, cloud, provider } = world();
    const of = provider();
    const healthy = async (account: string): Promise<boolean> => {
      const types = await clock.run(of.instanceTypes(aClaim(1, account).spec.nodeClassRef, NEVER));
      const offerings = types.find(({ name }) => name === SPOT.instanceType)?.offerings ?? [];
      return offerings.some(
        ({ zone, capacityType, healthy: is }) => zone === SPOT.zone && capacityType === 'spot' && is !== false,
      );
    };
    cloud.configure('stormy', anAccount({ overrides: [{ ...SPOT, capacity: 0 }] }));
    await expect(clock.run(of.create(aClaim(1, 'stormy'), [SPOT], NEVER))).rejects.toMatchObject({
      code: 'CLOUD_INSUFFICIENT_CAPACITY',
    });
    expect([await healthy('stormy'), await healthy('calm')]).toEqual([false, true]);
    await clock.advance(180_000);
    expect(await healthy('stormy')).toBe(true);
    const { providerID } = await clock.run(of.create(aClaim(2, 'calm'), [SPOT], NEVER));
    cloud.interrupt(providerID);
    await clock.run(of.notices(NEVER)[Symbol.asyncIterator]().next());
    expect([await healthy('stormy'), await healthy('calm')]).toEqual([true, false]);
  });

  it('sells to each pool what that one may try again, as one array where they see the same', async () => {
    const { clock, cloud, provider } = world();
    const reservations = [{ id: 'r', instanceType: 'large', zone: 'zone-a', count: 1, match: 'targeted' as const }];
    cloud.configure('calm', anAccount({ reservations }));
    const unavailable = new UnavailableOfferings({ clock, ttlMs: (pool) => (pool === 'hasty' ? 1000 : 60_000) });
    const of = provider('test', unavailable);
    const { nodeClassRef } = aClaim(1, 'calm').spec;
    const sold = (pool: string) => clock.run(of.instanceTypes(nodeClassRef, NEVER, pool));
    expect(await sold('hasty')).toBe(await sold('patient'));
    unavailable.mark({ ...SPOT, account: 'calm' }, 'no capacity');
    expect(await sold('hasty')).toBe(await sold('patient'));
    await clock.advance(1000);
    const [hasty, patient] = [await sold('hasty'), await sold('patient')];
    const differ = hasty.filter((type, index) => type !== patient[index]).map(({ name }) => name);
    expect(differ).toEqual([SPOT.instanceType]);
    expect([await sold('hasty'), await sold('patient')]).toEqual([hasty, patient]);
    await clock.advance(59_000);
    expect(await sold('patient')).toBe(hasty);
  });

  it('takes an offering out of the market from when the cloud said so, not from when it is heard, or heard again', async () => {
    const { clock, cloud, provider } = world();
    const unavailable = new UnavailableOfferings({ clock });
    const { providerID } = await clock.run(provider().create(aClaim(1, 'calm'), [SPOT], NEVER));
    cloud.interrupt(providerID, 600_000);
    const since = clock.now();
    await clock.advance(120_000);
    await clock.run(provider('test', unavailable).notices(NEVER)[Symbol.asyncIterator]().next());
    expect(unavailable.list()).toMatchObject([{ until: since + 180_000 }]);
  });

  it('leaves the machines of another cluster alone', async () => {
    const { clock, provider } = world();
    await clock.run(provider('other').create(aClaim(1, 'calm'), [SPOT], NEVER));
    expect(await clock.run(provider().list(NEVER))).toEqual([]);
    expect(await clock.run(provider().delete({ claimUID: 'uid-1' }, NEVER))).toBe('gone');
    expect(await clock.run(provider('other').list(NEVER))).toHaveLength(1);
  });

  it('sees prices that have moved, and then lists anew', async () => {
    const { clock, cloud, provider } = world();
    cloud.configure('calm', anAccount({ market: { ...STILL_MARKET, volatility: 0.2 } }));
    const of = provider();
    const { nodeClassRef } = aClaim(1, 'calm').spec;
    const prices = async () => {
      const types = await clock.run(of.instanceTypes(nodeClassRef, NEVER));
      return types.flatMap((type) => type.offerings.map(({ price }) => price));
    };
    const before = await prices();
    await clock.advance(3_600_000);
    expect(await prices()).not.toEqual(before);
  });

  it('finds a machine drifted whose zone the class no longer has', async () => {
    const { clock, cloud, provider } = world();
    const of = provider();
    const { providerID } = await clock.run(of.create(aClaim(1, 'calm'), [SPOT], NEVER));
    const claim = aClaim(1, 'calm', providerID);
    expect(await clock.run(of.driftReason(claim, NEVER))).toBeUndefined();
    cloud.configure('calm', anAccount({ regions: [{ name: 'region-1', zones: ['zone-b'] }] }));
    await clock.advance(60_000);
    expect(await clock.run(of.driftReason(claim, NEVER))).toBe('ZoneDrift');
  });

  it('finds a machine drifted whose reservation the class no longer has', async () => {
    const { clock, cloud, provider } = world();
    const reservations = [{ id: 'r', instanceType: 'small', zone: 'zone-a', count: 1, match: 'targeted' as const }];
    cloud.configure('calm', anAccount({ reservations }));
    const of = provider();
    const reserved: RankedOffering = { ...SPOT, capacityType: 'reserved', reservationId: 'r' };
    const { providerID } = await clock.run(of.create(aClaim(1, 'calm'), [reserved], NEVER));
    cloud.configure('calm', anAccount());
    await clock.advance(60_000);
    expect(await clock.run(of.driftReason(aClaim(1, 'calm', providerID), NEVER))).toBe('CapacityReservationDrift');
  });

  it('hears every kind of notice that the cloud gives, but not those of last week', async () => {
    const { clock, cloud, provider } = world();
    const of = provider();
    const { providerID } = await clock.run(of.create(aClaim(1, 'calm'), [SPOT], NEVER));
    cloud.announce(providerID, 'rebalance', 'old');
    await clock.advance(7 * DAY_MS);
    cloud.announce(providerID, 'scheduled-maintenance', 'new', clock.now());
    const heard = await clock.run(of.notices(NEVER).next());
    expect(heard.value).toMatchObject({
      kind: 'scheduled-maintenance',
      providerID,
      detail: 'new',
      deadline: clock.now(),
    });
  });
});
