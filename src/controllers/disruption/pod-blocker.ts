/** Decides whether a pod blocks the disruption of its node. Pure. */
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { doNotDisruptUntil } from '../../state/do-not-disrupt.ts';
import { hasEnded } from '../../state/has-ended.ts';
import { isDrainable } from '../../state/is-drainable.ts';
import { isReady } from '../../state/is-ready.ts';

/** Why the pod may not be evicted; undefined if it may, or need not be. `budgets` are the ones that select it. */
export function podBlocker(pod: Pod, budgets: readonly PodDisruptionBudget[], now: EpochMs): string | undefined {
  if (hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined || !isDrainable(pod)) return undefined;
  const name = keyText(keyOf(pod));
  if ((doNotDisruptUntil(pod) ?? 0) > now) return `pod ${name} has the annotation karpenter.sh/do-not-disrupt`;
  // The API server evicts pending pods without checking budgets.
  if (pod.status?.phase === 'Pending') return undefined;
  if (budgets.length > 1) {
    const names = budgets.map((budget) => keyText(keyOf(budget))).join(', ');
    return `pod ${name} cannot be evicted, because several PodDisruptionBudgets select it: ${names}`;
  }
  const refusing = budgets.find((budget) => !allows(budget, pod));
  return refusing && `PodDisruptionBudget ${keyText(keyOf(refusing))} does not allow the eviction of pod ${name} now`;
}

function allows({ metadata, spec, status }: PodDisruptionBudget, pod: Pod): boolean {
  const { observedGeneration = 0, disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  if (!isReady(pod)) {
    if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
    // KEP-3017: pods that are not ready may be evicted while enough others are healthy.
    if (desiredHealthy > 0 && currentHealthy >= desiredHealthy) return true;
  }
  // A status that was computed for an older spec does not count.
  return observedGeneration >= (metadata.generation ?? 0) && disruptionsAllowed > 0;
}
