import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../platform/clock.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import type { OfferingName } from './offering-key.ts';
import { UnavailableOfferings } from './unavailable-offerings.ts';

const SPOT: OfferingName = { capacityType: 'spot', instanceType: 'm5.large', zone: 'a' };
const MINUTE_MS = 60_000;

/** Pools for whom an offering is out for one minute, and for four. */
const SHORT = { pool: 'short' };
const LONG = { pool: 'long' };

function world() {
  const clock = new VirtualClock();
  const ttlMs = (pool: string | undefined): number => ({ short: 1, long: 4 })[pool ?? ''] ?? 3;
  return { clock, unavailable: new UnavailableOfferings({ clock, ttlMs: (pool) => ttlMs(pool) * MINUTE_MS }) };
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

  it('tells offerings apart by capacity type, instance type, zone, reservation and account', () => {
    const { unavailable } = world();
    const reserved: OfferingName = { ...SPOT, capacityType: 'reserved', reservationId: 'r-1' };
    unavailable.mark(SPOT, 'no capacity');
    unavailable.mark(reserved, 'gone');
    for (const other of [
      { ...SPOT, capacityType: 'on-demand' as const },
      { ...SPOT, instanceType: 'm5.xlarge' },
      { ...SPOT, zone: 'b' },
      { ...SPOT, account: 'other' },
      { ...reserved, reservationId: 'r-2' },
    ])
      expect(unavailable.has(other)).toBe(false);
    expect(unavailable.has(reserved)).toBe(true);
  });

  it('lengthens the absence of an offering that is marked again, and never shortens it', async () => {
    const { clock, unavailable } = world();
    unavailable.mark(SPOT, 'no capacity');
    await clock.advance(MINUTE_MS);
    unavailable.mark(SPOT, 'interrupted', SHORT);
    await clock.advance(MINUTE_MS);
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

  it('has a sequence number that changes when, and only when, the set of unavailable offerings does', async () => {
    const { clock, unavailable } = world();
    const start = unavailable.sequence;
    unavailable.mark(SPOT, 'no capacity');
    const marked = unavailable.sequence;
    expect(marked).not.toBe(start);
    unavailable.mark(SPOT, 'again', LONG);
    await clock.advance(3 * MINUTE_MS);
    expect(unavailable.sequence).toBe(marked);
    await clock.advance(MINUTE_MS);
    const expired = unavailable.sequence;
    expect(expired).not.toBe(marked);
    unavailable.restore(SPOT);
    expect(unavailable.sequence).toBe(expired);
  });

  it('lets an offering back before its time when told to', () => {
    const { unavailable } = world();
    unavailable.mark(SPOT, 'no capacity');
    const marked = unavailable.sequence;
    unavailable.restore(SPOT);
    expect(unavailable.has(SPOT)).toBe(false);
    expect(unavailable.sequence).not.toBe(marked);
  });

  it('says until when, by the time of day', () => {
    const { clock, unavailable } = world();
    unavailable.mark(SPOT, 'no capacity');
    const until = clock.now() + 3 * MINUTE_MS;
    expect(unavailable.list()).toEqual([{ offering: SPOT, reason: 'no capacity', until }]);
  });

  it('keeps an offering out for as long as the pool that found it so asks for', async () => {
    const { clock, unavailable } = world();
    unavailable.mark(SPOT, 'no capacity', SHORT);
    await clock.advance(MINUTE_MS - 1);
    expect(unavailable.has(SPOT)).toBe(true);
    await clock.advance(1);
    expect(unavailable.has(SPOT)).toBe(false);
  });

  it('tells listeners of what goes out of the market, with the cause and once while it is out, until they stop', async () => {
    const { clock, unavailable } = world();
    const heard: string[] = [];
    const stop = unavailable.onMark(({ offering, cause }) => heard.push(`${offering.instanceType} ${cause}`));
    unavailable.mark(SPOT, 'no capacity');
    unavailable.mark(SPOT, 'no capacity', LONG);
    unavailable.mark({ ...SPOT, zone: 'b' }, 'taken back', { cause: 'notice' });
    await clock.advance(4 * MINUTE_MS);
    unavailable.mark(SPOT, 'no capacity');
    stop();
    await clock.advance(4 * MINUTE_MS);
    unavailable.mark(SPOT, 'no capacity');
    expect(heard).toEqual(['m5.large launch', 'm5.large notice', 'm5.large launch']);
  });
});
