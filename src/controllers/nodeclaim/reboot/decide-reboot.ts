/**
 * Decides the next step of a reboot. Its phase is the reason of the claim's condition Rebooting, as in Karpenter: RebootRequested while the
 * node drains, RebootIssued from the cloud's answer until the node is ready again. Pure.
 */
import { conditionOf } from '../../../apis/karpenter/conditions.ts';
import { durationMs } from '../../../apis/karpenter/duration.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { isReady } from '../../../state/is-ready.ts';

/** On a claim: the boot ID of its node before the reboot. */
export const ANNOTATION_PRE_BOOT_ID = 'karpenter.sh/reboot-pre-boot-id';
/** On a claim: the longest drain before the reboot; absent if nothing bounds it. */
export const ANNOTATION_REBOOT_GRACE = 'karpenter.sh/reboot-termination-grace-period';

export const REBOOT_REQUESTED = 'RebootRequested';
export const REBOOT_ISSUED = 'RebootIssued';

/** A node that is not ready again by then is replaced. */
const LONGEST_REBOOT_MS = 20 * 60_000;
/** How long a failing reboot request to the cloud is repeated. */
const LONGEST_ASKING_MS = 5 * 60_000;
/** The longest drain if nothing bounds it: after that an unhealthy node is rebooted with its pods, which restart on it. */
const LONGEST_DRAIN_MS = 10 * 60_000;

export type RebootStep =
  | { readonly kind: 'none' }
  /** Evict its pods first. */
  | { readonly kind: 'drain'; readonly forMs: number }
  /** Have the cloud reboot it. */
  | { readonly kind: 'reboot' }
  /** It is not ready again yet. */
  | { readonly kind: 'wait'; readonly forMs: number }
  /** It is ready again. */
  | { readonly kind: 'back' }
  /** Delete its claim, which replaces it. */
  | { readonly kind: 'replace'; readonly why: string };

export interface RebootCircumstances {
  readonly claim: NodeClaim;
  readonly node: Node | undefined;
  /** Pods that still have to be evicted. */
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
