import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { Reservations } from './reservations.ts';

async function counted(free: number, settleMs = 0) {
  const clock = new VirtualClock();
  const reservations = new Reservations({ clock, settleMs });
  reservations.count('r', free, clock.elapsed());
  await clock.advance(1);
  return { clock, reservations };
}

describe('Reservations', () => {
  it('has no slots in a reservation that nobody has counted', () => {
    const reservations = new Reservations({ clock: new VirtualClock() });
    expect(reservations.free('r')).toBe(0);
    expect(reservations.hold('r', 'claim-1')).toBe(false);
  });

  it('gives each claim one slot, until there are none', async () => {
    const { reservations } = await counted(2);
    expect(reservations.hold('r', 'claim-1')).toBe(true);
    expect(reservations.hold('r', 'claim-1')).toBe(true);
    expect(reservations.hold('r', 'claim-2')).toBe(true);
    expect(reservations.hold('r', 'claim-3')).toBe(false);
    expect(reservations.free('r')).toBe(0);
  });

  it('takes a launch off the count until a later count shows it', async () => {
    const { clock, reservations } = await counted(2);
    reservations.hold('r', 'claim-1');
    const askedDuringLaunch = clock.elapsed();
    await clock.advance(10);
    reservations.launched('r', 'claim-1');
    reservations.count('r', 2, askedDuringLaunch);
    expect(reservations.free('r')).toBe(1);
    await clock.advance(10);
    reservations.count('r', 1, clock.elapsed());
    expect(reservations.free('r')).toBe(1);
  });

  it('does not trust a count that may be older than the launch, where the cloud counts late', async () => {
    const { clock, reservations } = await counted(2, 30_000);
    reservations.hold('r', 'claim-1');
    reservations.launched('r', 'claim-1');
    await clock.advance(30_000);
    reservations.count('r', 2, clock.elapsed());
    expect(reservations.free('r')).toBe(1);
    await clock.advance(1);
    reservations.count('r', 1, clock.elapsed());
    expect(reservations.free('r')).toBe(1);
  });

  it('gives the slot back when the launch failed or the claim has gone', async () => {
    const { reservations } = await counted(1);
    reservations.hold('r', 'claim-1');
    reservations.release('r', 'claim-1');
    expect(reservations.hold('r', 'claim-2')).toBe(true);
    reservations.forget('claim-2');
    expect(reservations.free('r')).toBe(1);
  });

  it('is full when the cloud says so, whatever a count that was asked for earlier says', async () => {
    const { clock, reservations } = await counted(3);
    const asked = clock.elapsed();
    await clock.advance(10);
    reservations.exhausted('r');
    reservations.count('r', 3, asked);
    expect(reservations.free('r')).toBe(0);
    reservations.count('r', 3, clock.elapsed());
    expect(reservations.free('r')).toBe(3);
  });

  it('has a sequence number that changes whenever a number of free slots does', async () => {
    const { clock, reservations } = await counted(3);
    const seen = new Map([[reservations.sequence, reservations.free('r')]]);
    const check = (): void => {
      const { sequence } = reservations;
      expect(seen.get(sequence) ?? reservations.free('r')).toBe(reservations.free('r'));
      seen.set(sequence, reservations.free('r'));
    };
    for (const step of [
      () => reservations.hold('r', 'claim-1'),
      () => reservations.launched('r', 'claim-1'),
      () => reservations.count('r', 1, clock.elapsed() + 1),
      () => reservations.exhausted('r'),
      () => reservations.count('r', 3, clock.elapsed() + 2),
      () => reservations.hold('r', 'claim-2'),
      () => reservations.forget('claim-2'),
    ]) {
      step();
      check();
    }
  });

  it('never lets more launches through than there are slots, whenever counts and answers arrive', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('hold' as const), claim: fc.nat(12) }),
        fc.record({ kind: fc.constant('answer' as const), pick: fc.nat() }),
        fc.record({ kind: fc.constant('ask' as const) }),
        fc.record({ kind: fc.constant('counted' as const), pick: fc.nat() }),
        fc.record({ kind: fc.constant('end' as const), pick: fc.nat() }),
      ),
      { size: 'max', maxLength: 80 },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 5 }), steps, async (slots, story) => {
        const clock = new VirtualClock();
        const reservations = new Reservations({ clock });
        reservations.count('r', slots, clock.elapsed());
        const running = new Set<number>();
        const ever = new Set<number>();
        const inFlight: number[] = [];
        const asked: { readonly at: number; readonly free: number }[] = [];
        for (const step of story) {
          await clock.advance(1);
          if (step.kind === 'hold' && !ever.has(step.claim) && reservations.hold('r', `${step.claim}`)) {
            // The cloud carries the launch out at once; the answer comes later.
            ever.add(step.claim);
            running.add(step.claim);
            inFlight.push(step.claim);
            expect(running.size).toBeLessThanOrEqual(slots);
          } else if (step.kind === 'answer' && inFlight.length > 0) {
            const [claim] = inFlight.splice(step.pick % inFlight.length, 1);
            reservations.launched('r', `${claim}`);
          } else if (step.kind === 'ask') asked.push({ at: clock.elapsed(), free: slots - running.size });
          else if (step.kind === 'counted' && asked.length > 0) {
            const [answer] = asked.splice(step.pick % asked.length, 1);
            reservations.count('r', answer!.free, answer!.at);
          } else if (step.kind === 'end') {
            const known = [...running].filter((claim) => !inFlight.includes(claim));
            if (known.length > 0) running.delete(known[step.pick % known.length]!);
          }
        }
      }),
    );
  });
});
