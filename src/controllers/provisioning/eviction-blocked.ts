/** Pods whose eviction from a node that is being removed is blocked. Pure. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import { ANNOTATION_INTERRUPTION } from '../../apis/spindrift/annotations.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { doNotDisruptUntil } from '../../state/do-not-disrupt.ts';
import { isReady } from '../../state/is-ready.ts';
import type { StateNode } from '../../state/state-node.ts';
import { terminationDeadline } from '../nodeclaim/termination/termination-deadline.ts';

type BudgetsOf = (pod: Pod) => readonly PodDisruptionBudget[];

/**
 * Whether the eviction of a pod is blocked without end: its node has no termination deadline, and the pod has `do-not-disrupt`, or a
 * PodDisruptionBudget that never allows an eviction. A node launched for such a pod would stay empty. `budgetsOf` gives the budgets that
 * select a pod.
 */
export function isEvictionBlocked(pod: Pod, node: StateNode, budgetsOf: BudgetsOf, now: EpochMs): boolean {
  if (hasDeadline(node)) return false;
  return (doNotDisruptUntil(pod) ?? 0) > now || (isReady(pod) && budgetsOf(pod).some(allowsNoEviction));
}

/** A claim that is not deleted yet waits for its replacements, so its pods must be planned for. */
function hasDeadline({ node, claim }: StateNode): boolean {
  if (claim === undefined) return node?.metadata.deletionTimestamp === undefined;
  const { deletionTimestamp, annotations } = claim.metadata;
  if (deletionTimestamp === undefined || annotations?.[ANNOTATION_INTERRUPTION] !== undefined) return true;
  return terminationDeadline(claim) !== undefined;
}

/** Whether the budget allows no eviction even if all of its pods are healthy. */
function allowsNoEviction({ metadata, status }: PodDisruptionBudget): boolean {
  const { observedGeneration = 0, desiredHealthy = 0, expectedPods = 0 } = status ?? {};
  return observedGeneration >= (metadata.generation ?? 0) && expectedPods > 0 && desiredHealthy >= expectedPods;
}
