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
  | { readonly kind: 'evict' }
  /** There is no more time to ask. */
  | { readonly kind: 'delete'; readonly graceSeconds: number };

export function decideEviction(pod: Pod, now: EpochMs, deadline: EpochMs | undefined): Eviction {
  const left = deadline === undefined ? undefined : Math.max(1, Math.floor((deadline - now) / 1000));
  const endsAt = parseTimestamp(pod.metadata.deletionTimestamp);
  if (endsAt !== undefined) {
    const late = deadline !== undefined && endsAt > deadline && (pod.metadata.deletionGracePeriodSeconds ?? 0) > 1;
    return late && left !== undefined ? { kind: 'delete', graceSeconds: left } : { kind: 'none' };
  }
  if (left !== undefined && now >= deletedAt(pod, deadline))
    return { kind: 'delete', graceSeconds: Math.max(1, Math.min(left, graceSeconds(pod))) };
  const until = doNotDisruptUntil(pod) ?? now;
  return until > now ? { kind: 'held', until } : { kind: 'evict' };
}

/** When a pod is deleted without asking: so early that it still has its grace period. */
export function deletedAt(pod: Pod, deadline: EpochMs | undefined): number {
  return deadline === undefined ? Number.POSITIVE_INFINITY : deadline - graceSeconds(pod) * 1000;
}
