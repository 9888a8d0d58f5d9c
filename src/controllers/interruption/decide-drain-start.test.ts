import { describe, expect, it } from 'vitest';
import type { NoticeKind } from '../../cloud/notice.ts';
import { later, T0 } from '../testkit/objects.ts';
import { type DrainFacts, decideDrainStart } from './decide-drain-start.ts';

const facts = (parts: Partial<DrainFacts> = {}): DrainFacts => ({
  interruption: { kind: 'spot-interruption', deadline: later(120_000) },
  ...{ now: T0, displaced: true, covered: true, placesUp: false, latestStart: later(80_000), waitedMs: 0 },
  ...parts,
});

describe('the drain of an interrupted node', () => {
  it('waits for the replacement until pods need the time', () => {
    expect(decideDrainStart(facts())).toEqual({ kind: 'wait', until: later(80_000) });
    expect(decideDrainStart(facts({ now: later(80_000) }))).toMatchObject({ kind: 'drain' });
    expect(decideDrainStart(facts({ placesUp: true }))).toMatchObject({ kind: 'drain' });
  });

  it('waits until enough replicas of its services serve elsewhere, but not longer than pods need the time', () => {
    const unserved = { placesUp: true, servedElsewhere: false };
    expect(decideDrainStart(facts(unserved))).toEqual({ kind: 'wait', until: later(80_000) });
    expect(decideDrainStart(facts({ ...unserved, now: later(80_000) }))).toMatchObject({ kind: 'drain' });
    expect(decideDrainStart(facts({ placesUp: true, servedElsewhere: true }))).toMatchObject({ kind: 'drain' });
  });

  it('waits for nothing where no pod needs another place, or the machine is gone', () => {
    expect(decideDrainStart(facts({ displaced: false, covered: false }))).toMatchObject({ kind: 'drain' });
    const interruption = { kind: 'preempted' } as const;
    expect(decideDrainStart(facts({ interruption, covered: false }))).toMatchObject({ kind: 'drain' });
  });

  it('gives provisioning a moment to answer, but not longer than the notice allows', () => {
    const short = { covered: false, placesUp: false, latestStart: T0 };
    const interruption = { kind: 'spot-interruption', deadline: later(12_000) } as const;
    expect(decideDrainStart(facts(short))).toEqual({ kind: 'wait', until: later(5000) });
    expect(decideDrainStart(facts({ ...short, interruption }))).toEqual({ kind: 'wait', until: later(3000) });
    expect(decideDrainStart(facts({ ...short, now: later(5000), waitedMs: 5000 }))).toMatchObject({ kind: 'drain' });
    const past = { kind: 'spot-interruption', deadline: later(-1000) } as const;
    expect(decideDrainStart(facts({ ...short, interruption: past }))).toEqual({ kind: 'wait', until: later(1500) });
  });

  it('counts how long it has waited by the clock that never goes back', () => {
    const hourBack = { covered: false, latestStart: later(-3_600_000), now: later(-3_600_000), waitedMs: 5000 };
    expect(decideDrainStart(facts(hourBack))).toMatchObject({ kind: 'drain' });
  });

  describe('whose end has no date', () => {
    const hour = 3_600_000;
    const waiting = (kind: NoticeKind, parts: Partial<DrainFacts> = {}): DrainFacts =>
      facts({ interruption: { kind, at: T0 }, latestStart: Number.POSITIVE_INFINITY, ...parts });

    it('waits for other places for an hour, and then goes in good order while it can', () => {
      const maintenance = 'scheduled-maintenance';
      expect(decideDrainStart(waiting(maintenance))).toEqual({ kind: 'wait', until: later(hour) });
      expect(decideDrainStart(waiting(maintenance, { covered: false }))).toEqual({ kind: 'wait', until: later(hour) });
      expect(decideDrainStart(waiting(maintenance, { now: later(hour) }))).toMatchObject({ kind: 'drain' });
    });

    it('and may never come is forgotten after that hour', () => {
      expect(decideDrainStart(waiting('rebalance', { now: later(hour - 1) }))).toMatchObject({ kind: 'wait' });
      expect(decideDrainStart(waiting('rebalance', { now: later(hour) }))).toMatchObject({ kind: 'drop' });
      expect(decideDrainStart(waiting('rebalance', { now: later(hour), placesUp: true }))).toMatchObject({
        kind: 'drain',
      });
    });

    it('counts the hour from when we first looked, where nobody says when it was announced, or says so wrongly', () => {
      const interruption = { kind: 'scheduled-maintenance' } as const;
      const seen = { now: later(1000), waitedMs: 1000 };
      expect(decideDrainStart(facts({ ...seen, interruption }))).toEqual({ kind: 'wait', until: later(hour) });
      const ahead = { ...interruption, at: later(9 * hour) };
      expect(decideDrainStart(facts({ ...seen, interruption: ahead }))).toEqual({ kind: 'wait', until: later(hour) });
    });

    it('counts it from when it was heard, where that was long after it was said, also after a restart', () => {
      const interruption = { kind: 'scheduled-maintenance', at: later(-2 * hour), heardAt: T0 } as const;
      expect(decideDrainStart(waiting('scheduled-maintenance', { interruption }))).toEqual({
        ...{ kind: 'wait', until: later(hour) },
      });
      const restarted = { interruption, now: later(hour - 1), waitedMs: 0 };
      expect(decideDrainStart(waiting('scheduled-maintenance', restarted))).toEqual({
        ...{ kind: 'wait', until: later(hour) },
      });
    });

    it.each(['scheduled-maintenance', 'rebalance'] as const)(
      'gives provisioning a moment to answer where that hour is over already: %s',
      (kind) => {
        const late = { now: later(2 * hour), covered: false };
        expect(decideDrainStart(waiting(kind, late))).toEqual({ kind: 'wait', until: later(2 * hour + 5000) });
        const asked = { ...late, now: later(2 * hour + 5000), waitedMs: 5000 };
        expect(decideDrainStart(waiting(kind, asked)).kind).toBe(kind === 'rebalance' ? 'drop' : 'drain');
      },
    );
  });
});
