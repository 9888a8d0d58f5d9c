/** Indexes PodDisruptionBudgets by namespace, to find the budgets of a pod quickly. */
import { compileLabelSelector, type LabelMatcher } from '../../apis/kubernetes/label-selector.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { evictionsAllowed, type PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import type { Informer } from '../../kube/informer.ts';

interface KnownBudget {
  readonly budget: PodDisruptionBudget;
  readonly matcher: LabelMatcher;
}

/** Called when a budget allows more disruptions than before, with the number it allows now. */
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
        if (evictionsAllowed(budget) > evictionsAllowed(old)) this.#opened(budget, evictionsAllowed(budget));
      },
      deleted: (budget) => {
        forget(budget);
        this.#opened(budget, Number.POSITIVE_INFINITY);
      },
    });
  }

  /** The budgets that select the pod. */
  of({ metadata }: Pod): PodDisruptionBudget[] {
    const found: PodDisruptionBudget[] = [];
    for (const { budget, matcher } of this.#known.get(metadata.namespace ?? '')?.values() ?? [])
      if (matcher.matches(metadata.labels)) found.push(budget);
    return found;
  }

  /** Calls back when a budget allows more disruptions than before, or was deleted. Call the result to stop. */
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
