import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../platform/clock.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import type { OfferingName } from '../offering-key.ts';
import { type AccountSettings, NO_FAULTS, STILL_MARKET } from './account-settings.ts';
import type { CloudMessage } from './notice-queue.ts';
import { SimulatedCloud } from './simulated-cloud.ts';
import type { SimulatedInstance } from './simulated-instance.ts';
import { anAccount } from './testkit/small-account.ts';

const NEVER = new AbortController().signal;
const SPOT: OfferingName = { capacityType: 'spot', instanceType: 'small', zone: 'zone-a' };
const ON_DEMAND: OfferingName = { ...SPOT, capacityType: 'on-demand' };
const HOUR_MS = 3_600_000;

class World {
  readonly clock = new VirtualClock();
  readonly cloud: SimulatedCloud;
  #serial = 0;

  constructor(settings: Partial<AccountSettings> = {}, seed = 'test') {
    this.cloud = new SimulatedCloud({ clock: this.clock, random: seededRandom(seed) });
    this.cloud.configure('account', anAccount(settings));
  }

  run(offering: OfferingName, openReservations: 'use' | 'none' = 'none'): Promise<SimulatedInstance> {
    const request = { offering, openReservations, tags: {}, bootstrap: { labels: {}, taints: [] } };
    const token = `token-${++this.#serial}`;
    return this.clock.run(this.cloud.runInstance('account', { ...request, token }, NEVER));
  }

  async messages(): Promise<readonly CloudMessage[]> {
    const limit = this.clock.deadline(0);
    return this.clock.run(this.cloud.receiveMessages(1000, limit.signal).catch(() => []));
  }
}

describe('an instance of the simulated cloud', () => {
  it('is pending, then running, then stopping, then gone', async () => {
    const world = new World();
    const states: string[] = [];
    world.cloud.fleet.onChange(({ state }) => states.push(state));
    const { id } = await world.run(SPOT);
    await world.clock.advance(20_000);
    await world.cloud.terminateInstance(id, NEVER);
    await world.clock.advance(5_000);
    expect(states).toEqual(['pending', 'running', 'stopping', 'terminated']);
    await expect(world.cloud.describeInstance(id, NEVER)).rejects.toMatchObject({ code: 'InstanceNotFound' });
  });

  it('can be terminated before it runs, and then never does', async () => {
    const world = new World();
    const { id } = await world.run(SPOT);
    const states: string[] = [];
    world.cloud.fleet.onChange(({ state }) => states.push(state));
    await world.cloud.terminateInstance(id, NEVER);
    await world.clock.advance(60_000);
    expect(states).toEqual(['stopping', 'terminated']);
  });

  it('is not shown at once where the cloud is slow to know of it', async () => {
    const world = new World({ faults: { ...NO_FAULTS, consistencyDelayMs: 10_000 } });
    const { id } = await world.run(SPOT);
    expect(await world.cloud.describeInstances('account', {}, undefined, NEVER)).toEqual({ instances: [] });
    await world.clock.advance(10_000);
    expect(await world.cloud.describeInstances('account', {}, undefined, NEVER)).toMatchObject({ instances: [{ id }] });
  });

  it('is named by its token alone, so that a cloud without memory gives the same name again', async () => {
    const [one, other] = [await new World().run(SPOT), await new World({}, 'other seed').run(SPOT)];
    expect(other.providerID).toBe(one.providerID);
    expect(one.providerID).toMatch(/^simulated:\/\/\/region-1\/zone-a\/i-[0-9a-f]{17}$/);
  });

  it('leaves for its pods what the machine does not need itself', async () => {
    const { capacity, allocatable } = await new World().run(SPOT);
    expect(capacity).toEqual({ cpu: 2000, memory: 8 * 1024 ** 3, pods: 110 });
    expect(allocatable).toEqual({ cpu: 1900, memory: 7.75 * 1024 ** 3, pods: 110 });
  });
});

describe('the capacity of the simulated cloud', () => {
  it('runs out where it is limited, and comes back when an instance goes', async () => {
    const world = new World({ market: { ...STILL_MARKET, capacityPerPool: 1 } });
    const { id } = await world.run(SPOT);
    await expect(world.run(SPOT)).rejects.toMatchObject({ code: 'InsufficientInstanceCapacity' });
    await world.run({ ...SPOT, zone: 'zone-b' });
    await world.run(ON_DEMAND);
    await world.cloud.terminateInstance(id, NEVER);
    await world.clock.advance(5_000);
    await world.run(SPOT);
  });

  it('can be exhausted and restored by hand, for some offerings or for many', async () => {
    const world = new World();
    const account = world.cloud.account('account')!;
    account.override({ zone: 'zone-a', capacity: 0 });
    await expect(world.run(SPOT)).rejects.toMatchObject({ code: 'InsufficientInstanceCapacity' });
    await expect(world.run(ON_DEMAND)).rejects.toMatchObject({ code: 'InsufficientInstanceCapacity' });
    await world.run({ ...SPOT, zone: 'zone-b' });
    account.restore({ capacityType: 'spot' });
    await expect(world.run(SPOT)).rejects.toMatchObject({ code: 'InsufficientInstanceCapacity' });
    account.restore({});
    await world.run(SPOT);
  });

  it('follows the last override of the settings that fits', async () => {
    const world = new World({
      overrides: [
        { capacityType: 'spot', capacity: 0 },
        { ...SPOT, capacity: 5 },
      ],
    });
    await world.run(SPOT);
    await expect(world.run({ ...SPOT, zone: 'zone-b' })).rejects.toMatchObject({
      code: 'InsufficientInstanceCapacity',
    });
  });

  it('is not sold where the catalogue does not have it', async () => {
    const world = new World();
    await expect(world.run({ ...SPOT, zone: 'zone-z' })).rejects.toMatchObject({ code: 'InvalidParameter' });
    await expect(world.run({ ...SPOT, instanceType: 'huge' })).rejects.toMatchObject({ code: 'InvalidParameter' });
  });

  it('costs what the catalogue says, times what the market and the overrides say', () => {
    const world = new World({
      market: { ...STILL_MARKET, priceFactor: 2 },
      overrides: [{ ...SPOT, priceFactor: 1.5 }],
    });
    const prices = new Map(
      world.cloud
        .account('account')!
        .priceList(world.clock.now())
        .find((type) => type.name === 'small')!
        .offerings.map(({ capacityType, zone, price }) => [`${capacityType}:${zone}`, price]),
    );
    expect(prices).toEqual(
      new Map([
        ['on-demand:zone-a', 0.1],
        ['spot:zone-a', 0.09],
        ['on-demand:zone-b', 0.1],
        ['spot:zone-b', 0.072],
      ]),
    );
  });
});

describe('interruptions in the simulated cloud', () => {
  it('come with a warning, after which the machine is gone', async () => {
    const world = new World();
    const { providerID, id } = await world.run(SPOT);
    expect(world.cloud.interrupt(providerID)).toBe(true);
    const deadline = world.clock.now() + 120_000;
    expect(await world.messages()).toMatchObject([{ kind: 'spot-interruption', providerID, deadline }]);
    await world.clock.advance(119_999);
    expect(world.cloud.fleet.get(id)).toBeDefined();
    await world.clock.advance(1);
    expect(world.cloud.fleet.get(id)).toBeUndefined();
    expect((await world.messages()).map(({ kind }) => kind)).toContain('terminated');
  });

  it('say nothing more when the machine was terminated in time', async () => {
    const world = new World();
    const { providerID, id } = await world.run(SPOT);
    world.cloud.interrupt(providerID, 60_000);
    await world.cloud.terminateInstance(id, NEVER);
    await world.clock.advance(120_000);
    expect((await world.messages()).map(({ kind }) => kind)).toEqual(['spot-interruption']);
  });

  it('may come again with a nearer deadline, never with a later one', async () => {
    const world = new World();
    const { providerID, id } = await world.run(SPOT);
    world.cloud.interrupt(providerID, 60_000);
    world.cloud.interrupt(providerID, 90_000);
    world.cloud.interrupt(providerID, 30_000);
    expect(await world.messages()).toHaveLength(2);
    await world.clock.advance(30_000);
    expect(world.cloud.fleet.get(id)).toBeUndefined();
  });

  it('without a warning leave only the word that the machine is gone', async () => {
    const world = new World();
    const { providerID } = await world.run(SPOT);
    world.cloud.interrupt(providerID, 0);
    expect(await world.messages()).toMatchObject([{ kind: 'preempted', providerID }]);
    expect(world.cloud.interrupt(providerID)).toBe(false);
  });

  it('hit a whole pool at once when the market takes it back, and on-demand machines never', async () => {
    const market = { ...STILL_MARKET, interruptionsPerHour: 0.2 };
    const world = new World();
    const spot = [await world.run(SPOT), await world.run(SPOT), await world.run(SPOT)];
    const onDemand = await world.run(ON_DEMAND);
    world.cloud.configure('account', anAccount({ market }));
    const reclaimed = await world.clock.runUntil(
      () => world.cloud.fleet.get(spot[0]!.id)?.goesAt !== undefined,
      100 * HOUR_MS,
    );
    expect(reclaimed).toBe(true);
    expect(new Set(spot.map(({ id }) => world.cloud.fleet.get(id)?.goesAt)).size).toBe(1);
    await expect(world.run(SPOT)).rejects.toMatchObject({ code: 'InsufficientInstanceCapacity' });
    await world.clock.advance(HOUR_MS);
    expect(spot.filter(({ id }) => world.cloud.fleet.get(id) !== undefined)).toEqual([]);
    expect(world.cloud.fleet.get(onDemand.id)).toBeDefined();
  });

  it('spread to other pools of the zone as likely as was set, and take a share of each', async () => {
    const market = { ...STILL_MARKET, interruptionsPerHour: 0.01, correlation: 1, interruptedShare: 0.5 };
    const world = new World({ market });
    const at: OfferingName[] = [SPOT, { ...SPOT, instanceType: 'large' }, { ...SPOT, zone: 'zone-b' }];
    for (const offering of at) for (let count = 0; count < 4; count++) await world.run(offering);
    const interrupted = () => [...world.cloud.fleet.list()].filter(({ goesAt }) => goesAt !== undefined);
    await world.clock.runUntil(() => interrupted().length > 0, 1000 * HOUR_MS);
    const [{ zone } = { zone: '' }] = interrupted();
    const pools = Map.groupBy(interrupted(), (instance) => `${instance.instanceType}:${instance.zone}`);
    expect([...pools.keys()].sort()).toEqual(
      at
        .filter((offering) => offering.zone === zone)
        .map(({ instanceType }) => `${instanceType}:${zone}`)
        .sort(),
    );
    expect([...pools.values()].map((instances) => instances.length)).toEqual([...pools.keys()].map(() => 2));
  });

  it('begin for machines that run already when the market is made lively', async () => {
    const world = new World();
    const { id } = await world.run(SPOT);
    world.cloud.configure('account', anAccount({ market: { ...STILL_MARKET, interruptionsPerHour: 1 } }));
    expect(await world.clock.runUntil(() => world.cloud.fleet.get(id) === undefined, 1000 * HOUR_MS)).toBe(true);
  });

  it('end when the market is made still, also in pools that have no machine at the time', async () => {
    const world = new World({ market: { ...STILL_MARKET, interruptionsPerHour: 1 } });
    const { id } = await world.run(SPOT);
    await world.cloud.terminateInstance(id, NEVER);
    await world.clock.advance(5_000);
    world.cloud.configure('account', anAccount());
    const later = await world.run(SPOT);
    await world.clock.advance(100 * HOUR_MS);
    expect(world.cloud.fleet.get(later.id)?.goesAt).toBeUndefined();
    expect(world.cloud.fleet.get(later.id)).toBeDefined();
  });
});

describe('reservations of the simulated cloud', () => {
  const reservation = { id: 'r-1', instanceType: 'small', zone: 'zone-a', count: 2, match: 'targeted' as const };
  const RESERVED: OfferingName = { ...SPOT, capacityType: 'reserved', reservationId: 'r-1' };

  it('take as many machines as they have slots', async () => {
    const world = new World({ reservations: [reservation] });
    await world.run(RESERVED);
    const { id } = await world.run(RESERVED);
    await expect(world.run(RESERVED)).rejects.toMatchObject({ code: 'ReservationCapacityExceeded' });
    await world.cloud.terminateInstance(id, NEVER);
    await world.clock.advance(5_000);
    expect(await world.cloud.describeReservations('account', NEVER)).toMatchObject([{ id: 'r-1', free: 1 }]);
  });

  it('that are open also take on-demand machines that match, unless these say no', async () => {
    const world = new World({ reservations: [{ ...reservation, match: 'open' }] });
    expect(await world.run(ON_DEMAND, 'use')).toMatchObject({ capacityType: 'reserved', reservationId: 'r-1' });
    expect(await world.run(ON_DEMAND, 'none')).toMatchObject({ capacityType: 'on-demand' });
    expect(await world.run({ ...ON_DEMAND, zone: 'zone-b' }, 'use')).toMatchObject({ capacityType: 'on-demand' });
    expect(await world.run(SPOT, 'use')).toMatchObject({ capacityType: 'spot' });
  });

  it('that are targeted take only machines that name them', async () => {
    const world = new World({ reservations: [reservation] });
    expect(await world.run(ON_DEMAND, 'use')).toMatchObject({ capacityType: 'on-demand' });
    const elsewhere = world.run({ ...RESERVED, zone: 'zone-b' });
    await expect(elsewhere).rejects.toMatchObject({ code: 'InvalidParameter' });
  });

  it('end at their time, and their machines go on as on-demand', async () => {
    const endsAt = (new VirtualClock().now() + HOUR_MS) as EpochMs;
    const world = new World({ reservations: [{ ...reservation, endsAt }] });
    const { id } = await world.run(RESERVED);
    await world.clock.advance(HOUR_MS);
    const after = world.cloud.fleet.get(id)!;
    expect(after).toMatchObject({ capacityType: 'on-demand', reservationId: undefined });
    expect(after.labels).toMatchObject({ 'karpenter.sh/capacity-type': 'on-demand' });
    expect(after.labels).not.toHaveProperty('spindrift.dev/reservation-id');
    expect(await world.cloud.describeReservations('account', NEVER)).toEqual([]);
    await expect(world.run(RESERVED)).rejects.toMatchObject({ code: 'InvalidParameter' });
  });
});

describe('the API of the simulated cloud', () => {
  it('takes its time', async () => {
    const world = new World({ faults: { ...NO_FAULTS, latencyMs: 250 } });
    const before = world.clock.elapsed();
    await world.run(SPOT);
    expect(world.clock.elapsed() - before).toBe(250);
  });

  it('refuses calls beyond the rate of the account, and says when to come again', async () => {
    const world = new World({ faults: { ...NO_FAULTS, requestsPerSecond: 2 } });
    const calls = [1, 2, 3].map(() =>
      world.run(SPOT).then(
        () => 'done',
        ({ code, retryAfterMs }) => ({ code, retryAfterMs }),
      ),
    );
    expect(await Promise.all(calls)).toEqual(['done', 'done', { code: 'RequestLimitExceeded', retryAfterMs: 500 }]);
    await world.clock.advance(500);
    await world.run(SPOT);
  });

  it('fails as often as was set, and has done half of what it failed to answer', async () => {
    const world = new World({ faults: { ...NO_FAULTS, errorRate: 0.5 } });
    let failed = 0;
    for (let call = 0; call < 400; call++) await world.run(SPOT).catch(() => failed++);
    expect(failed).toBeGreaterThan(160);
    expect(failed).toBeLessThan(240);
    const unheard = [...world.cloud.fleet.list()].length - (400 - failed);
    expect(unheard / failed).toBeGreaterThan(0.35);
    expect(unheard / failed).toBeLessThan(0.65);
  });

  it('keeps the trouble of one account from another', async () => {
    const world = new World({ faults: { ...NO_FAULTS, errorRate: 1, requestsPerSecond: 1 } });
    world.cloud.configure('other', anAccount());
    await expect(world.cloud.describeInstances('account', {}, undefined, NEVER)).rejects.toThrow();
    expect(await world.cloud.describeInstances('other', {}, undefined, NEVER)).toEqual({ instances: [] });
  });

  it('does the same again from the same seed', async () => {
    const story = async (seed: string): Promise<string[]> => {
      const market = { ...STILL_MARKET, interruptionsPerHour: 0.5, correlation: 0.3, interruptedShare: 0.4 };
      const faults = { ...NO_FAULTS, errorRate: 0.2, launchFailureRate: 0.2 };
      const world = new World({ market, faults }, seed);
      const log: string[] = [];
      world.cloud.fleet.onChange(({ id, state }) => log.push(`${world.clock.now()} ${id} ${state}`));
      for (let step = 0; step < 40; step++) {
        await world
          .run(step % 2 === 0 ? SPOT : { ...SPOT, instanceType: 'large' })
          .catch((error) => log.push(`${error}`));
        await world.clock.advance(HOUR_MS / 4);
      }
      return log;
    };
    const [one, two, other] = [await story('a'), await story('a'), await story('b')];
    expect(two).toEqual(one);
    expect(other).not.toEqual(one);
    expect(one.length).toBeGreaterThan(60);
  });
});
