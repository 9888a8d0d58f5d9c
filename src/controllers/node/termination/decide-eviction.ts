/** How a pod is made to leave a node that goes. Pure. */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { doNotDisruptUntil } from '../../../state/do-not-disrupt.ts';
import { graceSeconds } from './drainable-pod.ts';

export type Eviction =
  /** It is leaving, and in time. */
  | { readonly kind: 'none' }
  /** It is not to be disrupted yet. */
  | { readonly kind: 'held'; readonly until: number }
  /** It is asked, and given less than its own grace period where the machine will not be there for longer. */
  | { readonly kind: 'evict'; readonly graceSeconds?: number }
  /** There is no more time to ask. */
  | { readonly kind: 'delete'; readonly graceSeconds: number };

/**
 * With `deadline` the node itself sets an end, at which pods are deleted without asking. With `endBy` somebody else takes
 * the machine away: the pod's time is up now, and it has to have ended by then, but nobody is forced to go.
 */
export function decideEviction(pod: Pod, now: EpochMs, deadline: EpochMs | undefined, endBy?: number): Eviction {
  const left = deadline === undefined ? undefined : Math.max(1, Math.floor((deadline - now) / 1000));
  const endsAt = parseTimestamp(pod.metadata.deletionTimestamp);
  if (endsAt !== undefined) {
    const late = deadline !== undefined && endsAt > deadline && (pod.metadata.deletionGracePeriodSeconds ?? 0) > 1;
    if (late && left !== undefined) return { kind: 'delete', graceSeconds: left };
    const shorter = endBy === undefined ? undefined : shortened(pod, endsAt, Math.max(endBy, now));
    return shorter === undefined ? { kind: 'none' } : { kind: 'evict', graceSeconds: shorter };
  }
  if (left !== undefined && now >= deletedAt(pod, deadline))
    return { kind: 'delete', graceSeconds: Math.max(1, Math.min(left, graceSeconds(pod))) };
  if (endBy !== undefined) {
    const given = Math.max(1, Math.floor((endBy - now) / 1000));
    return given < graceSeconds(pod) ? { kind: 'evict', graceSeconds: given } : { kind: 'evict' };
  }
  const until = doNotDisruptUntil(pod) ?? now;
  return until > now ? { kind: 'held', until } : { kind: 'evict' };
}

/** The grace period, counted from when it began, that ends by then; undefined where the present one does. */
function shortened({ metadata }: Pod, endsAt: number, endBy: number): number | undefined {
  const { deletionGracePeriodSeconds: given = 0 } = metadata;
  const shorter = Math.max(1, Math.floor((endBy - (endsAt - given * 1000)) / 1000));
  return shorter < given ? shorter : undefined;
}

/** When a pod is deleted without asking: so early that it still has its grace period. */
export function deletedAt(pod: Pod, deadline: EpochMs | undefined): number {
  return deadline === undefined ? Number.POSITIVE_INFINITY : deadline - graceSeconds(pod) * 1000;
}
