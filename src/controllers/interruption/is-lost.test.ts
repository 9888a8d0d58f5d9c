import { describe, expect, it } from 'vitest';
import type { NoticeKind } from '../../cloud/notice.ts';
import { aNodeClaim, later, T0 } from '../testkit/objects.ts';
import { interruptionAnnotations } from './interruption-of-claim.ts';
import { isLost } from './is-lost.ts';

const MINUTE = 60_000;

function lost(kind: NoticeKind, inMs?: number): boolean {
  const deadline = inMs === undefined ? {} : { deadline: later(inMs) };
  return isLost(aNodeClaim({ metadata: { annotations: interruptionAnnotations({ kind, ...deadline }) } }), T0);
}

describe('a machine is lost', () => {
  it('when the cloud has taken it, or takes it within minutes', () => {
    expect(lost('preempted')).toBe(true);
    expect(lost('terminated')).toBe(true);
    expect(lost('spot-interruption', 2 * MINUTE)).toBe(true);
    expect(lost('scheduled-maintenance', 5 * MINUTE)).toBe(true);
    expect(lost('stopping', 0)).toBe(true);
  });

  it('not when it goes later, or may stay, or is still there long after it should have gone', () => {
    expect(lost('scheduled-maintenance', 6 * MINUTE)).toBe(false);
    expect(lost('scheduled-maintenance')).toBe(false);
    expect(lost('rebalance')).toBe(false);
    expect(lost('spot-interruption', -6 * MINUTE)).toBe(false);
    expect(isLost(aNodeClaim(), T0)).toBe(false);
  });
});
