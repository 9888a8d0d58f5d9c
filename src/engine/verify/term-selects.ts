import type { Labels, PodAffinityTerm } from '../problem.ts';
import { selects } from './label-rules.ts';
import type { Subject } from './tally.ts';

/** Whether an affinity term of a pod in `namespace` selects another pod; `namespaces` are the labels of all namespaces. */
export function termSelects(
  term: PodAffinityTerm,
  namespace: string,
  pod: Subject,
  namespaces: Readonly<Record<string, Labels>> = {},
): boolean {
  const own = term.namespaces === undefined && term.namespaceSelector === undefined;
  const inNamespace =
    (own && pod.namespace === namespace) ||
    term.namespaces?.includes(pod.namespace) === true ||
    selects(term.namespaceSelector, namespaces[pod.namespace] ?? {});
  return inNamespace && selects(term.selector, pod.labels);
}
