/** Decides how a pod of a draining node is removed. Pure. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { doNotDisruptUntil } from '../do-not-disrupt.ts';
import { graceSeconds } from './drainable-pod.ts';

export type Eviction =
  /** It is already terminating, and will end in time. */
  | { readonly kind: 'none' }
  /** It must not be disrupted yet. */
  | { readonly kind: 'held'; readonly until: number }
  /** Evict it, with a shortened grace period if the machine will be gone earlier. */
  | { readonly kind: 'evict'; readonly graceSeconds?: number }
  /** Delete it: there is no time left for evictions. */
  | { readonly kind: 'delete'; readonly graceSeconds: number };

/**
 * `deadline` is set by the node itself (terminationGracePeriod): pods are deleted in time for it, whatever budgets say. `endBy` is set by
 * an interruption: the pod is evicted now and must have ended by then, but it is not deleted.
 */
export function decideEviction(pod: Pod, now: EpochMs, deadline: EpochMs | undefined, endBy?: number): Eviction {
  const left = deadline === undefined ? undefined : secondsUntil(deadline, now);
  const endsAt = parseTimestamp(pod.metadata.deletionTimestamp);
  if (endsAt !== undefined) {
    const late = deadline !== undefined && endsAt > deadline && (pod.metadata.deletionGracePeriodSeconds ?? 0) > 1;
    if (late && left !== undefined) return { kind: 'delete', graceSeconds: left };
    // A kubelet counts a shortened grace period from the moment it learns of it.
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

/** When a pod is deleted without eviction: early enough to leave it its full grace period. */
export function deletedAt(pod: Pod, deadline: EpochMs | undefined): number {
  return deadline === undefined ? Number.POSITIVE_INFINITY : deadline - graceSeconds(pod) * 1000;
}
