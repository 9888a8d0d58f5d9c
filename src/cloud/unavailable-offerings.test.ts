import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../platform/virtual-clock.ts';
import type { OfferingName } from './offering-key.ts';
import { UnavailableOfferings } from './unavailable-offerings.ts';

const SPOT: OfferingName = { capacityType: 'spot', instanceType: 'm5.large', zone: 'a' };
const MINUTE_MS = 60_000;

function world(ttlMs?: number) {
  const clock = new VirtualClock();
  return { clock, unavailable: new UnavailableOfferings({ clock, ...(ttlMs !== undefined && { ttlMs }) }) };
}

describe('UnavailableOfferings', () => {
  it('keeps an offering out of the market for three minutes', async () => {
    const { clock, unavailable } = world();
    unavailable.mark(SPOT, 'no capacity');
    await clock.advance(3 * MINUTE_MS - 1);
    expect(unavailable.has(SPOT)).toBe(true);
    await clock.advance(1);
    expect(unavailable.has(SPOT)).toBe(false);
  });

  it('tells offerings apart by capacity type, instance type, zone and reservation', () => {
    const { unavailable } = world();
    const reserved: OfferingName = { ...SPOT, capacityType: 'reserved', reservationId: 'r-1' };
    unavailable.mark(SPOT, 'no capacity');
    unavailable.mark(reserved, 'gone');
    for (const other of [
      { ...SPOT, capacityType: 'on-demand' as const },
      { ...SPOT, instanceType: 'm5.xlarge' },
      { ...SPOT, zone: 'b' },
      { ...reserved, reservationId: 'r-2' },
    ])
      expect(unavailable.has(other)).toBe(false);
    expect(unavailable.has(reserved)).toBe(true);
  });

  it('lengthens the absence of an offering that is marked again, and never shortens it', async () => {
    const { clock, unavailable } = world();
    unavailable.mark(SPOT, 'no capacity');
    await clock.advance(MINUTE_MS);
    unavailable.mark(SPOT, 'interrupted', MINUTE_MS);
    await clock.advance(MINUTE_MS);
    expect(unavailable.list()).toMatchObject([{ offering: SPOT, reason: 'no capacity' }]);
    unavailable.mark(SPOT, 'interrupted');
    await clock.advance(2 * MINUTE_MS);
    expect(unavailable.list()).toMatchObject([{ offering: SPOT, reason: 'interrupted' }]);
  });

  it('has a sequence number that changes when, and only when, the set of unavailable offerings does', async () => {
    const { clock, unavailable } = world();
    const start = unavailable.sequence;
    unavailable.mark(SPOT, 'no capacity');
    const marked = unavailable.sequence;
    expect(marked).not.toBe(start);
    unavailable.mark(SPOT, 'again', 4 * MINUTE_MS);
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
    const { clock, unavailable } = world(5_000);
    unavailable.mark(SPOT, 'no capacity');
    expect(unavailable.list()).toEqual([{ offering: SPOT, reason: 'no capacity', until: clock.now() + 5_000 }]);
  });
});
