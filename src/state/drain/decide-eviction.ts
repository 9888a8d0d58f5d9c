/** How a pod is made to leave a node that goes. Pure. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { doNotDisruptUntil } from '../do-not-disrupt.ts';
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
  const left = deadline === undefined ? undefined : secondsUntil(deadline, now);
  const endsAt = parseTimestamp(pod.metadata.deletionTimestamp);
  if (endsAt !== undefined) {
    const late = deadline !== undefined && endsAt > deadline && (pod.metadata.deletionGracePeriodSeconds ?? 0) > 1;
    if (late && left !== undefined) return { kind: 'delete', graceSeconds: left };
    // A kubelet counts a shortened grace period from when it hears of it.
    const shorter = endBy === undefined ? Number.POSITIVE_INFINITY : secondsUntil(endBy, now);
    const given = pod.metadata.deletionGracePeriodSeconds ?? 0;
    return shorter < given ? { kind: 'evict', graceSeconds: shorter } : { kind: 'none' };
  }
  if (left !== undefined && now >= deletedAt(pod, deadline))
    return { kind: 'delete', graceSeconds: Math.max(1, Math.min(left, graceSeconds(pod))) };
  if (endBy !== undefined) {
    const given = secondsUntil(endBy, now);
    return given < graceSeconds(pod) ? { kind: 'evict', graceSeconds: given } : { kind: 'evict' };
  }
  const until = doNotDisruptUntil(pod) ?? now;
  return until > now ? { kind: 'held', until } : { kind: 'evict' };
}

function secondsUntil(time: number, now: EpochMs): number {
  return Math.max(1, Math.floor((time - now) / 1000));
}

/** When a pod is deleted without asking: so early that it still has its grace period. */
export function deletedAt(pod: Pod, deadline: EpochMs | undefined): number {
  return deadline === undefined ? Number.POSITIVE_INFINITY : deadline - graceSeconds(pod) * 1000;
}
