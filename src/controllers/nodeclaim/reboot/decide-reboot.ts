/**
 * What to do next about a claim whose node is rebooted. The phases are on the claim, in the condition Rebooting, as in Karpenter:
 * RebootRequested while its pods leave, RebootIssued from the cloud's answer until the node is back. Pure.
 */
import { conditionOf } from '../../../apis/karpenter/conditions.ts';
import { durationMs } from '../../../apis/karpenter/duration.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { isReady } from '../../../state/is-ready.ts';

/** On a claim: the boot of its node before the reboot. */
export const ANNOTATION_PRE_BOOT_ID = 'karpenter.sh/reboot-pre-boot-id';
/** On a claim: how long its pods have to leave before the reboot; absent where nothing bounds it. */
export const ANNOTATION_REBOOT_GRACE = 'karpenter.sh/reboot-termination-grace-period';

export const REBOOT_REQUESTED = 'RebootRequested';
export const REBOOT_ISSUED = 'RebootIssued';

/** A node that is not back by then is replaced. */
export const LONGEST_REBOOT_MS = 20 * 60_000;
/** The cloud is asked for so long. */
const LONGEST_ASKING_MS = 5 * 60_000;
/** Where nothing says how long pods may take, a sick node is rebooted after so long whatever they do: its machine restarts them. */
export const LONGEST_DRAIN_MS = 10 * 60_000;

export type RebootStep =
  /** Nothing is to be done. */
  | { readonly kind: 'none' }
  /** Its pods are to leave first. */
  | { readonly kind: 'drain'; readonly forMs: number }
  /** The cloud is to reboot it. */
  | { readonly kind: 'reboot' }
  /** It is not back yet. */
  | { readonly kind: 'wait'; readonly forMs: number }
  /** It is back. */
  | { readonly kind: 'back' }
  /** It is to be replaced: deleting its claim does that. */
  | { readonly kind: 'replace'; readonly why: string };

export interface RebootCircumstances {
  readonly claim: NodeClaim;
  readonly node: Node | undefined;
  /** How many pods have still to leave. */
  readonly pods: number;
  readonly now: EpochMs;
}

export function decideReboot({ claim, node, pods, now }: RebootCircumstances): RebootStep {
  const condition = conditionOf(claim, 'Rebooting');
  if (condition?.status !== 'True' || claim.metadata.deletionTimestamp !== undefined) return { kind: 'none' };
  const since = parseTimestamp(condition.lastTransitionTime) ?? now;
  const deadline = drainDeadline(claim, since);
  if (condition.reason !== REBOOT_ISSUED) {
    if (node === undefined) return { kind: 'replace', why: 'its node is gone' };
    if (pods > 0 && now < deadline) return { kind: 'drain', forMs: deadline - now };
    if (now > deadline + LONGEST_ASKING_MS) return { kind: 'replace', why: 'the cloud does not reboot it' };
    return { kind: 'reboot' };
  }
  if (node !== undefined && isReady(node) && bootOf(node) !== claim.metadata.annotations?.[ANNOTATION_PRE_BOOT_ID])
    return { kind: 'back' };
  const forMs = deadline + LONGEST_ASKING_MS + LONGEST_REBOOT_MS - now;
  return forMs > 0 ? { kind: 'wait', forMs } : { kind: 'replace', why: 'it did not come back from its reboot' };
}

/** Identifies a boot of a machine. */
export function bootOf({ status }: Node): string {
  return status?.nodeInfo?.bootID ?? '';
}

function drainDeadline({ metadata }: NodeClaim, since: number): number {
  const grace = durationMs(metadata.annotations?.[ANNOTATION_REBOOT_GRACE] ?? '');
  return since + Math.min(grace ?? LONGEST_DRAIN_MS, LONGEST_DRAIN_MS);
}
