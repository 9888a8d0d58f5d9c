import { durationMs } from '../../../apis/karpenter/duration.ts';
import { ANNOTATION_TERMINATION_TIMESTAMP } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';

/** When the pods of the claim's node must have left, as written on the claim; undefined when they have all the time. */
export function writtenDeadline(claim: NodeClaim | undefined): EpochMs | undefined {
  return parseTimestamp(claim?.metadata.annotations?.[ANNOTATION_TERMINATION_TIMESTAMP]);
}

/**
 * The deadline that a deleted claim should have: what its own grace period gives, or what is written on it already, where
 * that is sooner. Deadlines only move closer.
 */
export function terminationDeadline(claim: NodeClaim): EpochMs | undefined {
  const written = writtenDeadline(claim);
  const deletedAt = parseTimestamp(claim.metadata.deletionTimestamp);
  const period = claim.spec.terminationGracePeriod;
  const periodMs = period === undefined ? undefined : durationMs(period);
  if (deletedAt === undefined || periodMs === undefined) return written;
  return Math.min(written ?? Number.POSITIVE_INFINITY, deletedAt + periodMs) as EpochMs;
}
