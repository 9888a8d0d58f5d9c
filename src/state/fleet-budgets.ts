/** The PodDisruptionBudgets of a cluster, and which of them apply to the eviction of a pod. */
import { compileLabelSelector, type LabelMatcher } from '../apis/kubernetes/label-selector.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { evictionsAllowed, type PodDisruptionBudget } from '../apis/kubernetes/pod-disruption-budget.ts';
import type { FleetDisruptionBudget } from '../engine/consolidation/fleet.ts';
import { isReady } from './is-ready.ts';
import type { SharedGroup } from './pod-groups.ts';

interface Selecting {
  readonly number: number;
  readonly budget: PodDisruptionBudget;
  readonly selector: LabelMatcher;
}

const NONE: readonly number[] = [];

export class FleetBudgets {
  /** By namespace. */
  readonly #budgets = new Map<string, Selecting[]>();
  readonly #ofGroup = new Map<SharedGroup, readonly Selecting[]>();
  /** As the engine knows them. */
  readonly all: readonly FleetDisruptionBudget[];

  constructor(budgets: readonly PodDisruptionBudget[]) {
    for (const [number, budget] of budgets.entries()) {
      const namespace = budget.metadata.namespace ?? '';
      const list = this.#budgets.get(namespace) ?? [];
      list.push({ number, budget, selector: compileLabelSelector(budget.spec.selector) });
      this.#budgets.set(namespace, list);
    }
    this.all = budgets.map((budget) => ({
      name: `${budget.metadata.namespace}/${budget.metadata.name}`,
      allowed: evictionsAllowed(budget),
    }));
  }

  /** The budgets, by number, that the eviction of a pod counts against or is refused by. */
  of(pod: Pod, group: SharedGroup): readonly number[] {
    const selecting = this.#selecting(group);
    if (selecting.length === 0 || isFree(pod)) return NONE;
    // The API server refuses to evict a pod with several budgets, whatever they allow.
    if (selecting.length > 1 || isReady(pod)) return selecting.map(({ number }) => number);
    return selecting.filter(({ budget }) => !letsUnhealthyGo(budget)).map(({ number }) => number);
  }

  #selecting(shared: SharedGroup): readonly Selecting[] {
    const known = this.#ofGroup.get(shared);
    if (known !== undefined) return known;
    const { namespace, labels } = shared.group;
    const found = (this.#budgets.get(namespace) ?? []).filter(({ selector }) => selector.matches(labels));
    this.#ofGroup.set(shared, found);
    return found;
  }
}

/** Pods that are pending or terminating are evicted whatever the budgets allow, as in the API server. */
function isFree({ metadata, status }: Pod): boolean {
  return status?.phase === 'Pending' || metadata.deletionTimestamp !== undefined;
}

/** KEP-3017: whether the budget allows evicting unready pods, either always or while enough other pods are healthy. */
function letsUnhealthyGo({ spec, status }: PodDisruptionBudget): boolean {
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}
