import { describe, expect, it } from 'vitest';
import type { RepairPolicy } from '../../../cloud/repair-policy.ts';
import { toTimestamp } from '../../../platform/clock.ts';
import { aNode, later, T0 } from '../../testkit/objects.ts';
import { isSick, sicknessOf } from './sickness.ts';

const MINUTE = 60_000;

function aPolicy(parts: Partial<RepairPolicy>): RepairPolicy {
  return {
    ...{ conditionType: 'Ready', conditionStatus: 'False', tolerationMs: 10 * MINUTE, priority: 10 },
    ...{ action: 'ReplaceNode', ...parts },
  };
}

function sick(type: string, reason: string, status: 'False' | 'Unknown' = 'False', at = T0) {
  const condition = { type, status, reason, message: '', lastTransitionTime: toTimestamp(at) };
  return aNode({ status: { conditions: [condition] } });
}

const FALLBACK = aPolicy({ tolerationMs: 30 * MINUTE });

describe('a node', () => {
  it('is sick from the start, but something is done about it only when that has lasted', () => {
    const node = sick('Ready', 'Any');
    expect(isSick(node, [FALLBACK])).toBe(true);
    expect(sicknessOf(node, [FALLBACK], later(30 * MINUTE - 1))).toBeUndefined();
    expect(sicknessOf(node, [FALLBACK], later(30 * MINUTE))).toMatchObject({ since: later(30 * MINUTE) });
    expect(isSick(aNode(), [FALLBACK])).toBe(false);
  });

  it('is not sick for longer than it is there', () => {
    const { metadata, ...rest } = sick('Ready', 'Any');
    const young = { ...rest, metadata: { ...metadata, creationTimestamp: toTimestamp(later(MINUTE)) } };
    expect(sicknessOf(young, [FALLBACK], later(30 * MINUTE))).toBeUndefined();
    expect(sicknessOf(young, [FALLBACK], later(31 * MINUTE))).toBeDefined();
  });

  it('has the policies whose pattern its reason matches; the one without a pattern only where there is no other', () => {
    const special = aPolicy({ reasonPattern: 'Disk', tolerationMs: 60 * MINUTE, priority: 90 });
    const policies = [special, FALLBACK];
    expect(sicknessOf(sick('Ready', 'BadDiskFound'), policies, later(59 * MINUTE))).toBeUndefined();
    expect(sicknessOf(sick('Ready', 'BadDiskFound'), policies, later(60 * MINUTE))?.priority).toBe(90);
    expect(sicknessOf(sick('Ready', 'Other'), policies, later(30 * MINUTE))?.priority).toBe(10);
  });

  it('has the one without a pattern for every condition that some policy speaks of, and for no other', () => {
    const policies = [aPolicy({ conditionType: 'Disk', reasonPattern: 'Bad' }), FALLBACK];
    expect(isSick(sick('Disk', 'Worse'), policies)).toBe(true);
    expect(isSick(sick('Disk', 'Worse', 'Unknown'), policies)).toBe(false);
    expect(isSick(sick('Fan', 'Bad'), policies)).toBe(false);
  });

  it('with several sicknesses has the one of the highest priority, and the shortest time for its pods of all', () => {
    const policies = [
      aPolicy({ conditionType: 'Disk', reasonPattern: '.', priority: 80, terminationGracePeriodMs: 9 * MINUTE }),
      aPolicy({ conditionType: 'Fan', reasonPattern: '.', priority: 20, terminationGracePeriodMs: MINUTE }),
      FALLBACK,
    ];
    const conditions = ['Disk', 'Fan'].flatMap((type) => sick(type, 'Bad').status?.conditions ?? []);
    expect(sicknessOf(aNode({ status: { conditions } }), policies, later(10 * MINUTE))).toMatchObject({
      ...{ condition: 'Disk', priority: 80, graceMs: MINUTE },
    });
  });
});
