/** Why pods may not be evicted from a node that is to go. Pure. */
import { compileLabelSelector, type LabelMatcher } from '../../apis/kubernetes/label-selector.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { hasEnded } from '../../state/cluster-state.ts';
import { doNotDisruptUntil } from '../../state/do-not-disrupt.ts';
import { isDrainable } from '../node/termination/drainable-pod.ts';

interface Selecting {
  readonly budget: PodDisruptionBudget;
  readonly selector: LabelMatcher;
}

/** What keeps pods where they are at one moment: their own word, and PodDisruptionBudgets. */
export class PodBlockers {
  readonly #byNamespace = new Map<string, Selecting[]>();
  readonly #now: EpochMs;

  constructor(budgets: readonly PodDisruptionBudget[], now: EpochMs) {
    this.#now = now;
    for (const budget of budgets) {
      const namespace = budget.metadata.namespace ?? '';
      const list = this.#byNamespace.get(namespace) ?? [];
      list.push({ budget, selector: compileLabelSelector(budget.spec.selector) });
      this.#byNamespace.set(namespace, list);
    }
  }

  /** Why the pod may not be evicted now; undefined when it may, or when nobody would have to evict it. */
  of(pod: Pod): string | undefined {
    if (hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined || !isDrainable(pod)) return undefined;
    const name = keyText(keyOf(pod));
    if ((doNotDisruptUntil(pod) ?? 0) > this.#now) return `pod ${name} has the annotation karpenter.sh/do-not-disrupt`;
    const budgets = (this.#byNamespace.get(pod.metadata.namespace ?? '') ?? []).filter(({ selector }) =>
      selector.matches(pod.metadata.labels),
    );
    if (budgets.length > 1) {
      const names = budgets.map(({ budget }) => keyText(keyOf(budget))).join(', ');
      return `pod ${name} is of several PodDisruptionBudgets, so that it cannot be evicted: ${names}`;
    }
    const refusing = budgets.find(({ budget }) => !allows(budget, pod));
    return (
      refusing && `PodDisruptionBudget ${keyText(keyOf(refusing.budget))} lets no pod go, and ${name} is one of its`
    );
  }
}

function allows({ metadata, spec, status }: PodDisruptionBudget, pod: Pod): boolean {
  // The API server evicts pods that do not run yet without asking.
  if (pod.status?.phase === 'Pending') return true;
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' && !isReady(pod)) return true;
  // What was computed for an older spec says nothing about this one.
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return false;
  return (status?.disruptionsAllowed ?? 0) > 0;
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
}
