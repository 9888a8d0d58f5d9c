import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import type { Condition } from '../kubernetes/object.ts';
import { type Conditioned, conditionOf, isTrue, withCondition, withoutCondition } from './conditions.ts';

const TYPES = { root: 'Ready', dependents: ['Launched', 'Registered'] };
const CREATED = '2026-01-01T00:00:00Z';
const at = (minute: number): EpochMs => (parseTimestamp(CREATED)! + minute * 60_000) as EpochMs;

function object(conditions: readonly Condition[] = [], metadata: object = {}): Conditioned {
  return { metadata: { name: 'x', generation: 1, creationTimestamp: CREATED, ...metadata }, status: { conditions } };
}

function summary(conditions: readonly Condition[]): string[] {
  return conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason} ${message}`.trim());
}

describe('a condition that is set', () => {
  const launched = withCondition(TYPES, object(), { type: 'Launched', status: 'True' }, at(5));

  it('brings those the kind must have, unknown since the object was made, and the root last', () => {
    expect(summary(launched)).toEqual([
      'Registered=Unknown AwaitingReconciliation object is awaiting reconciliation',
      'Launched=True Launched',
      'Ready=Unknown ReconcilingDependents Registered=Unknown',
    ]);
    expect(launched.map((condition) => condition.lastTransitionTime)).toEqual([
      CREATED,
      '2026-01-01T00:05:00Z',
      CREATED,
    ]);
  });

  it('makes the root true when it was the last that was missing', () => {
    const ready = withCondition(TYPES, object(launched), { type: 'Registered', status: 'True' }, at(6));
    expect(isTrue(object(ready), 'Ready')).toBe(true);
    expect(conditionOf(object(ready), 'Ready')).toMatchObject({
      reason: 'Ready',
      message: '',
      lastTransitionTime: '2026-01-01T00:06:00Z',
    });
  });

  it('makes the root false when it is false, newest trouble first', () => {
    const change = { type: 'Registered', status: 'False', reason: 'MultipleNodesFound' } as const;
    const failed = withCondition(TYPES, object(), change, at(7));
    expect(conditionOf(object(failed), 'Ready')).toMatchObject({
      status: 'False',
      reason: 'UnhealthyDependents',
      message: 'Registered=False, Launched=Unknown',
    });
  });

  it('keeps its time while its status stays, and the whole list while nothing changes', () => {
    const again = withCondition(
      TYPES,
      object(launched),
      { type: 'Launched', status: 'True', message: 'in use1' },
      at(9),
    );
    expect(conditionOf(object(again), 'Launched')).toMatchObject({
      message: 'in use1',
      lastTransitionTime: '2026-01-01T00:05:00Z',
    });
    expect(withCondition(TYPES, object(launched), { type: 'Launched', status: 'True' }, at(9))).toBe(launched);
  });

  it('does not move the root when the root does not depend on it', () => {
    const drifted = withCondition(TYPES, object(launched), { type: 'Drifted', status: 'True' }, at(9));
    expect(conditionOf(object(drifted), 'Ready')).toEqual(conditionOf(object(launched), 'Ready'));
    expect(withoutCondition(object(drifted), 'Drifted')).toEqual(launched);
    expect(withoutCondition(object(launched), 'Drifted')).toBe(launched);
  });
});

describe('a new generation', () => {
  const ready = ['Launched', 'Registered'].reduce<readonly Condition[]>(
    (conditions, type) => withCondition(TYPES, object(conditions), { type, status: 'True' }, at(1)),
    [],
  );

  it('makes the root unknown until every condition was judged again', () => {
    const half = withCondition(TYPES, object(ready, { generation: 2 }), { type: 'Launched', status: 'True' }, at(2));
    expect(conditionOf(object(half), 'Ready')).toMatchObject({ status: 'Unknown', message: 'Registered=True' });
    const whole = withCondition(TYPES, object(half, { generation: 2 }), { type: 'Registered', status: 'True' }, at(3));
    expect(isTrue(object(whole), 'Ready')).toBe(true);
  });

  it('takes what was false before for unknown', () => {
    const failed = withCondition(TYPES, object(ready), { type: 'Registered', status: 'False' }, at(2));
    const next = withCondition(TYPES, object(failed, { generation: 2 }), { type: 'Launched', status: 'True' }, at(3));
    expect(conditionOf(object(next), 'Ready')).toMatchObject({ status: 'Unknown', message: 'Registered=False' });
  });

  it('of an object that goes asks nobody to judge again', () => {
    const going = object(ready, { generation: 2, deletionTimestamp: '2026-01-02T00:00:00Z' });
    const after = withCondition(TYPES, going, { type: 'Drained', status: 'True' }, at(2));
    expect(isTrue(object(after), 'Ready')).toBe(true);
    expect(after.map((condition) => condition.observedGeneration)).toEqual([2, 2, 2, 2]);
  });
});

describe('whatever is set in whatever order', () => {
  const change = fc.record({
    type: fc.constantFrom('Launched', 'Registered', 'Drifted'),
    status: fc.constantFrom('True', 'False', 'Unknown'),
  });

  it('the root is true exactly when all it depends on are, and setting the last one again changes nothing', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, size: 'max', maxLength: 30 }), (changes) => {
        let conditions: readonly Condition[] = [];
        for (const [minute, one] of changes.entries()) {
          conditions = withCondition(TYPES, object(conditions), one as never, at(minute));
        }
        const now = object(conditions);
        expect(isTrue(now, 'Ready')).toBe(TYPES.dependents.every((type) => isTrue(now, type)));
        expect(conditions.at(-1)?.type).toBe('Ready');
        expect(withCondition(TYPES, now, changes.at(-1) as never, at(1000))).toBe(conditions);
      }),
    );
  });
});
