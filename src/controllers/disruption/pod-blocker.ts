/** Why a pod may not be evicted from a node that is to go. Pure. */
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { doNotDisruptUntil } from '../../state/do-not-disrupt.ts';
import { hasEnded } from '../../state/has-ended.ts';
import { isDrainable } from '../../state/is-drainable.ts';
import { isReady } from '../../state/is-ready.ts';

/** Undefined when it may be evicted now, or when nobody would have to; `budgets` are those that count it. */
export function podBlocker(pod: Pod, budgets: readonly PodDisruptionBudget[], now: EpochMs): string | undefined {
  if (hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined || !isDrainable(pod)) return undefined;
  const name = keyText(keyOf(pod));
  if ((doNotDisruptUntil(pod) ?? 0) > now) return `pod ${name} has the annotation karpenter.sh/do-not-disrupt`;
  // The API server evicts pods that do not run yet without asking.
  if (pod.status?.phase === 'Pending') return undefined;
  if (budgets.length > 1) {
    const names = budgets.map((budget) => keyText(keyOf(budget))).join(', ');
    return `pod ${name} is of several PodDisruptionBudgets, so that it cannot be evicted: ${names}`;
  }
  const refusing = budgets.find((budget) => !allows(budget, pod));
  return refusing && `PodDisruptionBudget ${keyText(keyOf(refusing))} lets no pod go, and ${name} is one of its`;
}

function allows({ metadata, spec, status }: PodDisruptionBudget, pod: Pod): boolean {
  const { observedGeneration = 0, disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  if (!isReady(pod)) {
    if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
    // KEP-3017: pods that are not ready go as long as enough others are.
    if (desiredHealthy > 0 && currentHealthy >= desiredHealthy) return true;
  }
  // What was computed for an older spec says nothing about this one.
  return observedGeneration >= (metadata.generation ?? 0) && disruptionsAllowed > 0;
}
