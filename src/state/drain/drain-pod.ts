/** Converts pods and PodDisruptionBudgets to the input of the drain planner. Pure. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { evictionsAllowed, type PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import type { DrainBudget, DrainPod } from '../../engine/drain/drain-question.ts';
import { parseTimestamp } from '../../platform/clock.ts';
import { doNotDisruptUntil } from '../do-not-disrupt.ts';
import { isReady } from '../is-ready.ts';
import { drainGroup, graceSeconds } from './drainable-pod.ts';

/** Pods must end this long before the machine is gone: the kubelet needs time to stop them and to report it. */
export const DRAIN_MARGIN_MS = 3000;
/** Expected time until a new pod is ready, if the old one does not show it. */
const USUAL_READY_MS = 10_000;
/** Longer times had other causes, such as an image pull or a slow node. */
const LONGEST_READY_MS = 60_000;

/** `namespace/name`. */
export function budgetName({ metadata }: PodDisruptionBudget): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Whether the pod can be evicted whatever the budget allows: it is pending, or the budget always allows evicting unready pods. */
export function mayGoAnyway(pod: Pod, { spec }: PodDisruptionBudget): boolean {
  return pod.status?.phase === 'Pending' || (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' && !isReady(pod));
}

/** A pod to evict, with its budgets. `loadingMs` is the learnt loading time of its model, if known. */
export function drainPod(pod: Pod, budgets: readonly string[], loadingMs?: number): DrainPod {
  const { namespace, name, uid = '', ownerReferences = [], deletionTimestamp } = pod.metadata;
  const heldUntil = doNotDisruptUntil(pod);
  const endsAt = parseTimestamp(deletionTimestamp);
  const owner = ownerReferences.find(({ controller }) => controller === true)?.kind;
  return {
    id: uid,
    name: `${namespace}/${name}`,
    graceMs: graceSeconds(pod) * 1000,
    group: drainGroup(pod),
    budgets,
    comesBack: owner === undefined ? 'never' : owner === 'StatefulSet' ? 'after-its-end' : 'at-once',
    readyMs: loadingMs ?? readyMs(pod),
    ...(heldUntil !== undefined && { heldUntil }),
    ...(endsAt !== undefined && { endsAt }),
  };
}

/** How long the pod itself took from its start until it was ready. */
function readyMs({ status }: Pod): number {
  const ready = status?.conditions?.find(({ type, status: value }) => type === 'Ready' && value === 'True');
  const readyAt = parseTimestamp(ready?.lastTransitionTime);
  const startedAt = parseTimestamp(status?.startTime);
  if (readyAt === undefined || startedAt === undefined) return USUAL_READY_MS;
  return Math.max(1000, Math.min(LONGEST_READY_MS, readyAt - startedAt));
}

/** The present state of a budget. `elsewhere` is the number of its pods to evict from other nodes. */
export function drainBudget(budget: PodDisruptionBudget, elsewhere: number): DrainBudget {
  const { desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {};
  const allowed = Math.max(evictionsAllowed(budget), expectedPods - desiredHealthy);
  return { name: budgetName(budget), allowed, away: allowed - evictionsAllowed(budget), elsewhere };
}
