import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import {
  ANNOTATION_CORDONED,
  ANNOTATION_INTERRUPTION,
  ANNOTATION_INTERRUPTION_DEADLINE,
  ANNOTATION_INTERRUPTION_HEARD,
  ANNOTATION_INTERRUPTION_TIME,
} from '../../apis/spindrift/annotations.ts';
import { NOTICE_KINDS, type NoticeKind } from '../../cloud/notice.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';

/** What the cloud is about to do to a machine, as it is written on the claim. */
export interface ClaimInterruption {
  readonly kind: NoticeKind;
  /** When the cloud first said that of this kind, where that is known. */
  readonly at?: EpochMs;
  /** When we first heard that, where that is known. */
  readonly heardAt?: EpochMs;
  /** When the machine goes, where that is known. */
  readonly deadline?: EpochMs;
}

/** What is written on the claim; undefined when its machine is in no danger. */
export function interruptionOf(claim: NodeClaim | undefined): ClaimInterruption | undefined {
  const { annotations = {} } = claim?.metadata ?? {};
  const said = annotations[ANNOTATION_INTERRUPTION];
  if (said === undefined) return undefined;
  // What a person wrote in words of their own is taken for the usual danger.
  const kind = NOTICE_KINDS.find((known) => known === said) ?? 'spot-interruption';
  const at = parseTimestamp(annotations[ANNOTATION_INTERRUPTION_TIME]);
  const heardAt = parseTimestamp(annotations[ANNOTATION_INTERRUPTION_HEARD]);
  const deadline = parseTimestamp(annotations[ANNOTATION_INTERRUPTION_DEADLINE]);
  return {
    kind,
    ...(at !== undefined && { at }),
    ...(heardAt !== undefined && { heardAt }),
    ...(deadline !== undefined && { deadline }),
  };
}

/** The annotations that say it. */
export function interruptionAnnotations(interruption: ClaimInterruption): Record<string, string> {
  const { kind, at, heardAt, deadline } = interruption;
  return {
    [ANNOTATION_INTERRUPTION]: kind,
    ...(at !== undefined && { [ANNOTATION_INTERRUPTION_TIME]: toTimestamp(at) }),
    ...(heardAt !== undefined && { [ANNOTATION_INTERRUPTION_HEARD]: toTimestamp(heardAt) }),
    ...(deadline !== undefined && { [ANNOTATION_INTERRUPTION_DEADLINE]: toTimestamp(deadline) }),
  };
}

/** What takes them away. */
export const NO_INTERRUPTION = {
  [ANNOTATION_INTERRUPTION]: null,
  [ANNOTATION_INTERRUPTION_TIME]: null,
  [ANNOTATION_INTERRUPTION_HEARD]: null,
  [ANNOTATION_INTERRUPTION_DEADLINE]: null,
} as const;

/** Whether nothing new is to come to the claim's node, although it may stay. */
export function isCordoned(claim: NodeClaim | undefined): boolean {
  return claim?.metadata.annotations?.[ANNOTATION_CORDONED] !== undefined;
}

/** Whether the machine is gone already. */
export function isGone(interruption: ClaimInterruption | undefined): boolean {
  return interruption?.kind === 'preempted' || interruption?.kind === 'terminated';
}

/** Whether the cloud takes capacity back, so that there is none of that offering for a while. */
export function isTakenBack({ kind }: { readonly kind: NoticeKind }): boolean {
  return kind === 'spot-interruption' || kind === 'reservation-interruption' || kind === 'preempted';
}
