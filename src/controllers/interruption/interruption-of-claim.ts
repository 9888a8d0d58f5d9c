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

/** The interruption that is written on a claim. */
export interface ClaimInterruption {
  readonly kind: NoticeKind;
  /** When the cloud first announced this kind, if known. */
  readonly at?: EpochMs;
  /** When we first received this kind, if known. */
  readonly heardAt?: EpochMs;
  /** When the machine is taken away, if known. */
  readonly deadline?: EpochMs;
}

/** Reads the interruption from the claim; undefined if there is none. */
export function interruptionOf(claim: NodeClaim | undefined): ClaimInterruption | undefined {
  const { annotations = {} } = claim?.metadata ?? {};
  const said = annotations[ANNOTATION_INTERRUPTION];
  if (said === undefined) return undefined;
  // An unknown kind, written by hand, counts as a spot interruption.
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

/** The annotations of an interruption. */
export function interruptionAnnotations(interruption: ClaimInterruption): Record<string, string> {
  const { kind, at, heardAt, deadline } = interruption;
  return {
    [ANNOTATION_INTERRUPTION]: kind,
    ...(at !== undefined && { [ANNOTATION_INTERRUPTION_TIME]: toTimestamp(at) }),
    ...(heardAt !== undefined && { [ANNOTATION_INTERRUPTION_HEARD]: toTimestamp(heardAt) }),
    ...(deadline !== undefined && { [ANNOTATION_INTERRUPTION_DEADLINE]: toTimestamp(deadline) }),
  };
}

/** A patch that removes these annotations. */
export const NO_INTERRUPTION = {
  [ANNOTATION_INTERRUPTION]: null,
  [ANNOTATION_INTERRUPTION_TIME]: null,
  [ANNOTATION_INTERRUPTION_HEARD]: null,
  [ANNOTATION_INTERRUPTION_DEADLINE]: null,
} as const;

/** Whether the claim's node is cordoned after a rebalance recommendation. */
export function isCordoned(claim: NodeClaim | undefined): boolean {
  return claim?.metadata.annotations?.[ANNOTATION_CORDONED] !== undefined;
}

/** Whether the machine is already gone. */
export function isGone(interruption: ClaimInterruption | undefined): boolean {
  return interruption?.kind === 'preempted' || interruption?.kind === 'terminated';
}

/** Whether the cloud reclaims capacity, so that the offering has none for a while. */
export function isTakenBack({ kind }: { readonly kind: NoticeKind }): boolean {
  return kind === 'spot-interruption' || kind === 'reservation-interruption' || kind === 'preempted';
}
