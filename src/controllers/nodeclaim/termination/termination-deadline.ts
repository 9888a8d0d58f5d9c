import { durationMs } from '../../../apis/karpenter/duration.ts';
import { ANNOTATION_TERMINATION_TIMESTAMP } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';

/** The deadline of the drain that is written on the claim; undefined if there is none. */
export function writtenDeadline(claim: NodeClaim | undefined): EpochMs | undefined {
  return parseTimestamp(claim?.metadata.annotations?.[ANNOTATION_TERMINATION_TIMESTAMP]);
}

/** The deadline of a deleted claim: the end of its terminationGracePeriod, or the written one if that is earlier. */
export function terminationDeadline(claim: NodeClaim): EpochMs | undefined {
  const written = writtenDeadline(claim);
  const deletedAt = parseTimestamp(claim.metadata.deletionTimestamp);
  const period = claim.spec.terminationGracePeriod;
  const periodMs = period === undefined ? undefined : durationMs(period);
  if (deletedAt === undefined || periodMs === undefined) return written;
  return Math.min(written ?? Number.POSITIVE_INFINITY, deletedAt + periodMs) as EpochMs;
}
