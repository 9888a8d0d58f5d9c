import { describe, expect, it, vi } from 'vitest';
import type { RankedOffering } from '../engine/solution.ts';
import { SpindriftError } from '../platform/errors.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { launchInOrder } from './launch-in-order.ts';
import { Reservations } from './reservations.ts';
import { UnavailableOfferings } from './unavailable-offerings.ts';

const SPOT: RankedOffering = { capacityType: 'spot', instanceType: 'small', zone: 'a', price: 1 };
const RESERVED: RankedOffering = { ...SPOT, capacityType: 'reserved', reservationId: 'r', price: 0.001 };
const NO_CAPACITY = new SpindriftError('CLOUD_INSUFFICIENT_CAPACITY', { claim: 'c', offerings: 'none' });

function world(offerings: readonly RankedOffering[], launch: (offering: RankedOffering) => Promise<string>) {
  const clock = new VirtualClock();
  const unavailable = new UnavailableOfferings({ clock });
  const reservations = new Reservations({ clock });
  reservations.count('r', 1, 0);
  const find = vi.fn(async (): Promise<string | undefined> => undefined);
  const run = () =>
    launchInOrder({ claim: { name: 'c', uid: 'u' }, offerings, unavailable, reservations, launch, find });
  return { unavailable, reservations, find, run };
}

describe('launchInOrder', () => {
  it('does not even try what is out of the market', async () => {
    const launch = vi.fn(async () => 'launched');
    const { unavailable, run } = world([SPOT, { ...SPOT, zone: 'b' }], launch);
    unavailable.mark(SPOT, 'test');
    expect(await run()).toBe('launched');
    expect(launch.mock.calls).toEqual([[{ ...SPOT, zone: 'b' }]]);
  });

  it('takes out of the market what had no capacity for those who wait, and says of whose market and whether a quota was the cause', async () => {
    const clock = new VirtualClock();
    const unavailable = new UnavailableOfferings({ clock, ttlMs: (pool) => (pool === 'general' ? 5 : 0) });
    const causes: string[] = [];
    unavailable.onMark(({ cause }) => causes.push(cause));
    const launch = vi.fn(async () => 'launched');
    launch.mockRejectedValueOnce(NO_CAPACITY);
    launch.mockRejectedValueOnce(new SpindriftError('CLOUD_QUOTA_EXCEEDED', { claim: 'c', problem: 'test' }));
    const claim = { name: 'c', uid: 'u' };
    const offerings = ['a', 'b', 'c'].map((zone) => ({ ...SPOT, zone }));
    const market = { unavailable, reservations: new Reservations({ clock }), account: 'ours', pool: 'general' };
    await launchInOrder({ claim, offerings, ...market, launch, find: async () => undefined });
    expect(causes).toEqual(['capacity', 'quota']);
    const out = (account: string) => offerings.map((one) => unavailable.has({ ...one, account }, 'general'));
    expect([out('ours'), out('theirs')]).toEqual([
      [true, true, false],
      [false, false, false],
    ]);
    expect(await launchInOrder({ claim, offerings, ...market, launch, find: async () => undefined })).toBe('launched');
    expect(launch.mock.lastCall).toEqual([{ ...SPOT, zone: 'c' }]);
    await launchInOrder({ claim, offerings, ...market, pool: 'hasty', launch, find: async () => undefined });
    expect(launch.mock.lastCall).toEqual([{ ...SPOT, zone: 'a' }]);
  });

  it('keeps a slot whose launch may have succeeded, and uses it at the next try', async () => {
    const launch = vi.fn(async () => 'launched');
    launch.mockRejectedValueOnce(new SpindriftError('CLOUD_UNAVAILABLE', { operation: 'launch', problem: 'test' }));
    const { reservations, run } = world([RESERVED, SPOT], launch);
    await expect(run()).rejects.toMatchObject({ code: 'CLOUD_UNAVAILABLE' });
    expect(reservations.hold('r', 'another')).toBe(false);
    expect(await run()).toBe('launched');
    expect(launch.mock.calls).toEqual([[RESERVED], [RESERVED]]);
  });

  it('takes a full reservation for full, not for sick', async () => {
    const launch = vi.fn(async () => 'launched');
    launch.mockRejectedValueOnce(NO_CAPACITY);
    const { reservations, unavailable, run } = world([RESERVED, SPOT], launch);
    await run();
    expect(unavailable.has(RESERVED)).toBe(false);
    expect(reservations.free('r')).toBe(0);
  });

  it('looks for an earlier launch only when it could try nothing', async () => {
    const tried = world([SPOT], () => Promise.reject(NO_CAPACITY));
    await expect(tried.run()).rejects.toMatchObject({ code: 'CLOUD_INSUFFICIENT_CAPACITY' });
    expect(tried.find).not.toHaveBeenCalled();
    tried.find.mockResolvedValue('earlier');
    expect(await tried.run()).toBe('earlier');
  });

  it('names the offerings that were not to be had, but not hundreds of them', async () => {
    const many = Array.from({ length: 100 }, (_, index) => ({ ...SPOT, zone: `zone-${index}` }));
    const { run } = world(many, () => Promise.reject(NO_CAPACITY));
    await expect(run()).rejects.toThrow(/spot:small:zone-4 and 95 more$/);
    await expect(world([], async () => '').run()).rejects.toThrow('no capacity for c: it allows none');
  });
});
