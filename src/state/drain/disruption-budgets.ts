/** Which disruption budgets a pod has, and which pods wait for one: looked up often, so it is kept ready. */
import { compileLabelSelector, type LabelMatcher } from '../../apis/kubernetes/label-selector.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import type { Informer } from '../../kube/informer.ts';

interface KnownBudget {
  readonly budget: PodDisruptionBudget;
  readonly matcher: LabelMatcher;
}

/** Hears of budgets that let pods go which they would not let go before, and how many. */
export type OpenedListener = (budget: PodDisruptionBudget, pods: number) => void;

export class DisruptionBudgets {
  /** By namespace and name. */
  readonly #known = new Map<string, Map<string, KnownBudget>>();
  readonly #listeners = new Set<OpenedListener>();

  constructor(budgets: Pick<Informer<PodDisruptionBudget>, 'addHandler'>) {
    const forget = ({ metadata }: PodDisruptionBudget): void =>
      void this.#known.get(metadata.namespace ?? '')?.delete(metadata.name ?? '');
    budgets.addHandler({
      added: (budget) => this.#learn(budget),
      updated: (budget, old) => {
        this.#learn(budget, old);
        if (allowedBy(budget) > allowedBy(old)) this.#opened(budget, allowedBy(budget));
      },
      deleted: (budget) => {
        forget(budget);
        this.#opened(budget, Number.POSITIVE_INFINITY);
      },
    });
  }

  /** The budgets that count the pod. */
  of({ metadata }: Pod): PodDisruptionBudget[] {
    const found: PodDisruptionBudget[] = [];
    for (const { budget, matcher } of this.#known.get(metadata.namespace ?? '')?.values() ?? [])
      if (matcher.matches(metadata.labels)) found.push(budget);
    return found;
  }

  /** Calls back whenever a budget lets more pods go than before, or is gone; gives what ends that. */
  onOpened(listener: OpenedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #learn(budget: PodDisruptionBudget, old?: PodDisruptionBudget): void {
    const { namespace = '', name = '', generation } = budget.metadata;
    const here = this.#known.get(namespace) ?? new Map<string, KnownBudget>();
    this.#known.set(namespace, here);
    const known = here.get(name);
    const same = known !== undefined && generation !== undefined && old?.metadata.generation === generation;
    here.set(name, { budget, matcher: same ? known.matcher : compileLabelSelector(budget.spec.selector) });
  }

  #opened(budget: PodDisruptionBudget, pods: number): void {
    for (const listener of [...this.#listeners]) listener(budget, pods);
  }
}

/** How many pods the budget lets go now. */
export function allowedBy({ status }: PodDisruptionBudget): number {
  return status?.disruptionsAllowed ?? 0;
}
