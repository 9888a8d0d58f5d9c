import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { ANNOTATION_INTERRUPTION, ANNOTATION_INTERRUPTION_DEADLINE } from '../../apis/spindrift/annotations.ts';
import { NOTICE_KINDS, type NoticeKind } from '../../cloud/notice.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';

/** What the cloud is about to do to a machine, as it is written on the claim. */
export interface ClaimInterruption {
  readonly kind: NoticeKind;
  /** When the machine goes, where that is known. */
  readonly deadline?: EpochMs;
}

/** What is written on the claim; undefined when its machine is in no danger. */
export function interruptionOf(claim: NodeClaim | undefined): ClaimInterruption | undefined {
  const { [ANNOTATION_INTERRUPTION]: said, [ANNOTATION_INTERRUPTION_DEADLINE]: until } =
    claim?.metadata.annotations ?? {};
  if (said === undefined) return undefined;
  // What a person wrote in words of their own is taken for the usual danger.
  const kind = NOTICE_KINDS.find((known) => known === said) ?? 'spot-interruption';
  const deadline = parseTimestamp(until);
  return deadline === undefined ? { kind } : { kind, deadline };
}

/** Whether the machine is gone already. */
export function isGone(interruption: ClaimInterruption | undefined): boolean {
  return interruption?.kind === 'preempted' || interruption?.kind === 'terminated';
}
