import { describe, expect, it } from 'vitest';
import { later, T0 } from '../testkit/objects.ts';
import { type DrainFacts, decideDrainStart } from './decide-drain-start.ts';

const facts = (parts: Partial<DrainFacts> = {}): DrainFacts => ({
  interruption: { kind: 'spot-interruption', deadline: later(120_000) },
  ...{ now: T0, displaced: true, covered: true, placesUp: false, latestStart: later(80_000), seenAt: T0 },
  ...parts,
});

describe('the drain of an interrupted node', () => {
  it('waits for the replacement until pods need the time', () => {
    expect(decideDrainStart(facts())).toEqual({ kind: 'wait', until: later(80_000) });
    expect(decideDrainStart(facts({ now: later(80_000) }))).toMatchObject({ kind: 'drain' });
    expect(decideDrainStart(facts({ placesUp: true }))).toMatchObject({ kind: 'drain' });
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
    expect(decideDrainStart(facts({ ...short, now: later(5000) }))).toMatchObject({ kind: 'drain' });
    const past = { kind: 'spot-interruption', deadline: later(-1000) } as const;
    expect(decideDrainStart(facts({ ...short, interruption: past }))).toEqual({ kind: 'wait', until: later(1500) });
  });

  it('without a deadline waits for the replacement for ever', () => {
    const interruption = { kind: 'scheduled-maintenance' } as const;
    const waiting = { interruption, now: later(10_000_000), latestStart: Number.POSITIVE_INFINITY };
    expect(decideDrainStart(facts(waiting))).toEqual({ kind: 'wait', until: Number.POSITIVE_INFINITY });
    expect(decideDrainStart(facts({ ...waiting, covered: false }))).toMatchObject({ kind: 'wait' });
  });
});
