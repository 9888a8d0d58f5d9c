import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../platform/clock.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import type { OfferingName } from './offering-key.ts';
import { UnavailableOfferings } from './unavailable-offerings.ts';

const SPOT: OfferingName = { capacityType: 'spot', instanceType: 'm5.large', zone: 'a' };
const MINUTE_MS = 60_000;

/** Pools that do not try an offering for one minute, and for four; others wait for three. */
const SHORT = 'short';
const LONG = 'long';

function world() {
  const clock = new VirtualClock();
  const minutes = new Map([
    [SHORT, 1],
    [LONG, 4],
  ]);
  const ttlMs = (pool = ''): number => (minutes.get(pool) ?? 3) * MINUTE_MS;
  return { clock, minutes, unavailable: new UnavailableOfferings({ clock, ttlMs }) };
}

describe('UnavailableOfferings', () => {
  it('keeps an offering out of the market for three minutes where nobody says how long', async () => {
    const clock = new VirtualClock();
    const unavailable = new UnavailableOfferings({ clock });
    unavailable.mark(SPOT, 'no capacity');
    await clock.advance(3 * MINUTE_MS - 1);
    expect(unavailable.has(SPOT)).toBe(true);
    await clock.advance(1);
    expect(unavailable.has(SPOT)).toBe(false);
  });

  it('tells offerings apart by capacity type, instance type, zone, reservation and scope', () => {
    const { unavailable } = world();
    const reserved: OfferingName = { ...SPOT, capacityType: 'reserved', reservationId: 'r-1' };
    unavailable.mark(SPOT, 'no capacity');
    unavailable.mark(reserved, 'gone');
    for (const other of [
      { ...SPOT, capacityType: 'on-demand' as const },
      { ...SPOT, instanceType: 'm5.xlarge' },
      { ...SPOT, zone: 'b' },
      { ...SPOT, scope: 'other' },
      { ...reserved, reservationId: 'r-2' },
    ])
      expect(unavailable.has(other)).toBe(false);
    expect(unavailable.has(reserved)).toBe(true);
  });

  it('lengthens the absence of an offering that is marked again, and never shortens it', async () => {
    const { clock, unavailable } = world();
    unavailable.mark(SPOT, 'no capacity');
    await clock.advance(2 * MINUTE_MS);
    unavailable.mark(SPOT, 'interrupted', { since: (clock.now() - 3 * MINUTE_MS) as EpochMs });
    expect(unavailable.list()).toMatchObject([{ offering: SPOT, reason: 'no capacity' }]);
    unavailable.mark(SPOT, 'interrupted');
    await clock.advance(2 * MINUTE_MS);
    expect(unavailable.list()).toMatchObject([{ offering: SPOT, reason: 'interrupted' }]);
  });

  it('keeps one that went some time ago out for what is left of its time', async () => {
    const { clock, unavailable } = world();
    unavailable.mark(SPOT, 'interrupted', { since: (clock.now() - 3 * MINUTE_MS) as EpochMs });
    expect(unavailable.has(SPOT)).toBe(false);
    unavailable.mark(SPOT, 'interrupted', { since: (clock.now() - 2 * MINUTE_MS) as EpochMs });
    expect(unavailable.list()).toMatchObject([{ until: clock.now() + MINUTE_MS }]);
    await clock.advance(MINUTE_MS);
    expect(unavailable.has(SPOT)).toBe(false);
    // By a clock that is ahead of ours.
    unavailable.mark(SPOT, 'interrupted', { since: (clock.now() + MINUTE_MS) as EpochMs });
    await clock.advance(3 * MINUTE_MS);
    expect(unavailable.has(SPOT)).toBe(false);
  });

  it('has a stamp that is another when, and only when, what a pool is not to try is', async () => {
    const { clock, unavailable } = world();
    const start = unavailable.stamp();
    unavailable.mark(SPOT, 'no capacity');
    const marked = unavailable.stamp();
    expect(marked).not.toBe(start);
    expect(unavailable.stamp(LONG)).toBe(marked);
    await clock.advance(MINUTE_MS);
    unavailable.mark(SPOT, 'again');
    await clock.advance(2 * MINUTE_MS);
    expect([unavailable.stamp(SHORT), unavailable.stamp()]).toEqual([start, marked]);
    await clock.advance(MINUTE_MS);
    expect([unavailable.stamp(), unavailable.stamp(LONG)]).toEqual([start, marked]);
    unavailable.mark({ ...SPOT, zone: 'b' }, 'no capacity');
    expect(unavailable.stamp(LONG)).not.toBe(marked);
    unavailable.restore({ ...SPOT, zone: 'b' });
    expect(unavailable.stamp(LONG)).toBe(marked);
  });

  it('lets an offering back before its time when told to', () => {
    const { unavailable } = world();
    unavailable.mark(SPOT, 'no capacity');
    unavailable.restore(SPOT);
    expect(unavailable.has(SPOT)).toBe(false);
  });

  it('says until when, by the time of day', () => {
    const { clock, unavailable } = world();
    unavailable.mark(SPOT, 'no capacity');
    const until = clock.now() + 3 * MINUTE_MS;
    expect(unavailable.list()).toEqual([{ offering: SPOT, reason: 'no capacity', until }]);
  });

  it('is out for each pool for as long as that one waits, whoever found it so', async () => {
    const { clock, unavailable } = world();
    unavailable.mark(SPOT, 'no capacity', { pool: LONG });
    await clock.advance(MINUTE_MS);
    expect([SHORT, LONG, undefined].map((pool) => unavailable.has(SPOT, pool))).toEqual([false, true, true]);
    await clock.advance(2 * MINUTE_MS);
    expect([SHORT, LONG, undefined].map((pool) => unavailable.has(SPOT, pool))).toEqual([false, true, false]);
    await clock.advance(MINUTE_MS);
    expect(unavailable.has(SPOT, LONG)).toBe(false);
  });

  it('follows settings that change while an offering is out', async () => {
    const { clock, minutes, unavailable } = world();
    unavailable.mark(SPOT, 'no capacity', { pool: LONG });
    await clock.advance(MINUTE_MS);
    minutes.set(LONG, 1);
    expect([unavailable.has(SPOT, LONG), unavailable.list(LONG), unavailable.stamp(LONG)]).toEqual([false, [], '']);
    minutes.set(LONG, 60);
    expect(unavailable.has(SPOT, LONG)).toBe(true);
  });

  it('forgets what was marked longest ago when there is too much of it', async () => {
    const clock = new VirtualClock();
    const unavailable = new UnavailableOfferings({ clock, most: 2 });
    for (const zone of ['a', 'b', 'a', 'c']) {
      unavailable.mark({ ...SPOT, zone }, 'no capacity');
      await clock.advance(1);
    }
    expect(unavailable.list().map(({ offering }) => offering.zone)).toEqual(['a', 'c']);
  });

  it('tells listeners of what goes out of the market, with the cause and once while it is out, until they stop', async () => {
    const { clock, unavailable } = world();
    const heard: string[] = [];
    const stop = unavailable.onMark(({ offering, cause }) => heard.push(`${offering.instanceType} ${cause}`));
    unavailable.mark(SPOT, 'no capacity');
    unavailable.mark(SPOT, 'no capacity', { pool: LONG });
    unavailable.mark({ ...SPOT, zone: 'b' }, 'taken back', { cause: 'notice' });
    await clock.advance(MINUTE_MS);
    unavailable.mark(SPOT, 'no capacity', { pool: SHORT });
    stop();
    await clock.advance(4 * MINUTE_MS);
    unavailable.mark(SPOT, 'no capacity');
    expect(heard).toEqual(['m5.large capacity', 'm5.large notice', 'm5.large capacity']);
  });

  it('is not made shorter by a later refusal for another cause', async () => {
    const { clock, unavailable } = world();
    unavailable.mark(SPOT, 'not sold here', { cause: 'unsupported', pool: SHORT });
    await clock.advance(MINUTE_MS);
    unavailable.mark(SPOT, 'no capacity', { cause: 'capacity', pool: SHORT });
    await clock.advance(50 * MINUTE_MS);
    expect(unavailable.has(SPOT, SHORT)).toBe(true);
  });

  it('takes many offerings out at once where a quota covers a family, and no others', () => {
    const { unavailable } = world();
    const family = new Set(['m5.large', 'm5.xlarge']);
    unavailable.mark({ capacityType: 'spot', instanceTypes: family, scope: 'ours' }, 'quota', { cause: 'quota' });
    const spot = (instanceType: string, scope = 'ours') => unavailable.has({ ...SPOT, instanceType, scope });
    expect(['m5.large', 'm5.xlarge', 'c5.large'].map((type) => spot(type))).toEqual([true, true, false]);
    expect(spot('m5.large', 'theirs')).toBe(false);
    expect(unavailable.has({ ...SPOT, capacityType: 'on-demand', scope: 'ours' })).toBe(false);
    expect(unavailable.stamp(undefined, 'theirs')).toBe('');
    unavailable.restore({ capacityType: 'spot', instanceTypes: family, scope: 'ours' });
    expect(spot('m5.large')).toBe(false);
  });

  it('waits for a quota, or for as long as the cloud says, whatever a pool would wait for capacity', async () => {
    const { clock, unavailable } = world();
    const other = { ...SPOT, zone: 'b' };
    unavailable.mark(SPOT, 'quota', { cause: 'quota', pool: SHORT });
    unavailable.mark(other, 'taken back', { cause: 'notice', pool: SHORT, forMs: 60 * MINUTE_MS });
    await clock.advance(9 * MINUTE_MS);
    expect([unavailable.has(SPOT, SHORT), unavailable.has(other, SHORT)]).toEqual([true, true]);
    await clock.advance(MINUTE_MS);
    expect([unavailable.has(SPOT, SHORT), unavailable.has(other, SHORT)]).toEqual([false, true]);
    await clock.advance(50 * MINUTE_MS);
    expect(unavailable.has(other, SHORT)).toBe(false);
  });
});
