/**
 * Pods are removed by the eviction API, which respects PodDisruptionBudgets. They are deleted only if their machine is gone, or the
 * termination grace period of their node leaves no more than their own grace period.
 */
import { ANNOTATION_TERMINATION_TIMESTAMP } from '../../../src/apis/karpenter/labels.ts';
import { compileLabelSelector } from '../../../src/apis/kubernetes/label-selector.ts';
import type { Pod } from '../../../src/apis/kubernetes/pod.ts';
import { parseTimestamp } from '../../../src/platform/clock.ts';
import type { Facts } from '../facts.ts';
import type { InvariantMaker } from '../invariant.ts';

/** By then the disruption controller has updated the budgets. */
const COUNTED_MS = 1000;

export const podsAreAsked: InvariantMaker = (facts, broken) => {
  /** When pods last became unhealthy for another reason than our evictions, by their app label. */
  const lostAt = new Map<string, number>();
  return {
    written({ collection, key, type, object, previous, verb }) {
      if (collection !== 'pods') return;
      const pod = object as Pod;
      const before = previous as Pod | undefined;
      if (before === undefined) return;
      const leaves = before.metadata.deletionTimestamp === undefined && (type === 'DELETED' || isLeaving(pod));
      if (isHealthy(before) && (leaves || !isHealthy(pod)) && verb !== 'evict')
        lostAt.set(pod.metadata.labels?.app ?? '', facts.now);
      if (!leaves) return;
      if (verb === 'delete' && !mayBeDeleted(facts, pod))
        broken(`pod ${key} on ${pod.spec.nodeName} was deleted without asking, although its machine is there`);
      if (verb === 'evict' && isHealthy(before)) {
        const quiet = facts.now - (lostAt.get(pod.metadata.labels?.app ?? '') ?? 0) > COUNTED_MS;
        if (quiet) for (const sentence of brokenBudgets(facts, pod)) broken(`${sentence}, without ${key}`);
      }
    },
  };
};

function isLeaving({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isHealthy(pod: Pod): boolean {
  return (
    !isLeaving(pod) && (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')
  );
}

function mayBeDeleted(facts: Facts, pod: Pod): boolean {
  const node = facts.nodes.find(({ metadata }) => metadata.name === pod.spec.nodeName);
  if (node === undefined || !facts.hasMachine(node)) return true;
  const claim = facts.claims.find(({ status }) => status?.providerID === node.spec?.providerID);
  const deadline = parseTimestamp(claim?.metadata.annotations?.[ANNOTATION_TERMINATION_TIMESTAMP]);
  const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  return deadline !== undefined && facts.now >= deadline - graceMs;
}

/** Budgets with fewer healthy pods than desired. */
function brokenBudgets(facts: Facts, evicted: Pod): string[] {
  return facts.podBudgets.flatMap(({ metadata, spec, status }) => {
    const selector = compileLabelSelector(spec.selector);
    if (!selector.matches(evicted.metadata.labels)) return [];
    const healthy = facts.pods.filter((pod) => selector.matches(pod.metadata.labels) && isHealthy(pod)).length;
    const wanted = status?.desiredHealthy ?? 0;
    return healthy < wanted
      ? [`PodDisruptionBudget ${metadata.name} wants ${wanted} healthy pods and has ${healthy}`]
      : [];
  });
}
