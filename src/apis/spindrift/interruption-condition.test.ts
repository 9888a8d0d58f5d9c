import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../platform/clock.ts';
import {
  interruptionCondition,
  noInterruptionCondition,
  type StatedInterruption,
  statedInterruption,
} from './interruption-condition.ts';

const NOW = 1_893_456_000_000 as EpochMs;
const STATED: StatedInterruption = {
  kind: 'spot-interruption',
  at: NOW,
  deadline: (NOW + 120_000) as EpochMs,
  source: 'imds',
  detail: 'Spot interruption warning was triggered',
};

describe('the condition of a node whose machine is in danger', () => {
  it('reads as a sentence, and back', () => {
    const condition = interruptionCondition(STATED, NOW);
    expect(condition).toMatchObject({
      type: 'SpindriftInterruption',
      status: 'True',
      reason: 'SpotInterruption',
      message:
        'The machine ends at 2030-01-01T00:02:00Z: Spot interruption warning was triggered (received from imds at 2030-01-01T00:00:00Z)',
    });
    expect(statedInterruption(condition)).toEqual(STATED);
  });

  it('is understood in other words, as an agent of another version may write it', () => {
    const message =
      'The machine goes at 2030-01-01T00:02:00Z: Spot interruption warning was triggered (heard from imds at 2030-01-01T00:00:00Z)';
    expect(statedInterruption({ ...interruptionCondition(STATED, NOW), message })).toEqual(STATED);
  });

  it('may have no deadline', () => {
    const { deadline: _, ...rest } = STATED;
    expect(statedInterruption(interruptionCondition({ ...rest, kind: 'rebalance' }, NOW))).toEqual({
      ...rest,
      kind: 'rebalance',
    });
  });

  it('says nothing when it is false, another, or not readable', () => {
    const condition = interruptionCondition(STATED, NOW);
    expect(statedInterruption(noInterruptionCondition(NOW))).toBeUndefined();
    expect(statedInterruption({ ...condition, type: 'Ready' })).toBeUndefined();
    expect(statedInterruption({ ...condition, reason: 'Whatever' })).toBeUndefined();
    fc.assert(
      fc.property(fc.nat(200), (length) => {
        const message = (condition.message ?? '').slice(0, length);
        if (message !== condition.message) expect(statedInterruption({ ...condition, message })).toBeUndefined();
      }),
    );
  });
});
