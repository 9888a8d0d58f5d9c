/** Pods that stay on a node though it goes. Pure. */
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
 * Whether a pod of a node that goes stays on it: nobody says until when the node is there, and the pod is not to be disrupted, or its
 * budgets never let one go. A machine that were bought for it would stand empty for as long as that. `budgetsOf` gives those that count a pod.
 */
export function isHeld(pod: Pod, node: StateNode, budgetsOf: BudgetsOf, now: EpochMs): boolean {
  if (hasAnEnd(node)) return false;
  return (doNotDisruptUntil(pod) ?? 0) > now || (isReady(pod) && budgetsOf(pod).some(letsNobodyGo));
}

/** What is not deleted yet goes when its replacements are up, and has none but by a plan that moves its pods. */
function hasAnEnd({ node, claim }: StateNode): boolean {
  if (claim === undefined) return node?.metadata.deletionTimestamp === undefined;
  const { deletionTimestamp, annotations } = claim.metadata;
  if (deletionTimestamp === undefined || annotations?.[ANNOTATION_INTERRUPTION] !== undefined) return true;
  return terminationDeadline(claim) !== undefined;
}

/** However many of its pods are healthy. */
function letsNobodyGo({ metadata, status }: PodDisruptionBudget): boolean {
  const { observedGeneration = 0, desiredHealthy = 0, expectedPods = 0 } = status ?? {};
  return observedGeneration >= (metadata.generation ?? 0) && expectedPods > 0 && desiredHealthy >= expectedPods;
}
