import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toTimestamp } from '../../../platform/clock.ts';
import { aNodeClaim, later } from '../../testkit/objects.ts';
import { terminationDeadline, writtenDeadline } from './termination-deadline.ts';

describe('the deadline of a claim', () => {
  it('is its deletion and its grace period; without one there is none', () => {
    const metadata = { deletionTimestamp: toTimestamp(later(10_000)) };
    expect(terminationDeadline(aNodeClaim({ metadata }))).toBeUndefined();
    expect(terminationDeadline(aNodeClaim({ metadata, spec: { terminationGracePeriod: '1m' } }))).toBe(later(70_000));
    expect(terminationDeadline(aNodeClaim({ spec: { terminationGracePeriod: '1m' } }))).toBeUndefined();
  });

  it('only ever moves closer', () => {
    const seconds = fc.integer({ min: 0, max: 100_000 });
    fc.assert(
      fc.property(seconds, seconds, fc.option(seconds), (written, deleted, period) => {
        const claim = aNodeClaim({
          metadata: {
            deletionTimestamp: toTimestamp(later(deleted * 1000)),
            annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': toTimestamp(later(written * 1000)) },
          },
          spec: period === null ? {} : { terminationGracePeriod: `${period}s` },
        });
        const expected = period === null ? written : Math.min(written, deleted + period);
        expect(terminationDeadline(claim)).toBe(later(expected * 1000));
        expect(terminationDeadline(claim)).toBeLessThanOrEqual(writtenDeadline(claim)!);
      }),
    );
  });
});
