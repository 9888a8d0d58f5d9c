/**
 * Checks pods against daemons that start on their node later: if either has anti-affinity to the other, the later one
 * cannot be scheduled.
 */
import type { PodAffinityTerm, PodGroup, Problem } from '../problem.ts';
import type { PlannedNode } from './planned-node.ts';
import { domainOf, type Subject } from './tally.ts';
import { termSelects } from './term-selects.ts';
import type { Report } from './violation.ts';

/** Checks all pods that the plan puts on a node. */
export function checkDaemons(
  { namespaces }: Pick<Problem, 'namespaces'>,
  node: PlannedNode,
  pods: readonly PodGroup[],
  report: Report,
): void {
  const avoids = (terms: readonly PodAffinityTerm[] = [], from: string, other: Subject): boolean =>
    terms.some(
      (term) => domainOf(node, term.topologyKey) !== undefined && termSelects(term, from, other, namespaces ?? {}),
    );
  for (const { name, namespace, labels = {}, podAntiAffinity } of node.daemonsToCome) {
    if (namespace === undefined) continue;
    for (const pod of new Set(pods)) {
      if (avoids(pod.podAntiAffinity, pod.namespace, { namespace, labels }))
        report('pod-anti-affinity', node.name, `${pod.name} avoids daemon ${name}, which will run there`);
      if (avoids(podAntiAffinity, namespace, pod))
        report('pod-anti-affinity', node.name, `daemon ${name}, which will run there, avoids ${pod.name}`);
    }
  }
}
