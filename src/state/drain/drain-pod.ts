/** What the planner of drains has to know about pods and their disruption budgets, from what the API server says. Pure. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import type { DrainBudget, DrainPod } from '../../engine/drain/drain-question.ts';
import { parseTimestamp } from '../../platform/clock.ts';
import { doNotDisruptUntil } from '../do-not-disrupt.ts';
import { isReady } from '../is-ready.ts';
import { allowedBy } from './disruption-budgets.ts';
import { drainGroup, graceSeconds } from './drainable-pod.ts';

/** Pods end so much before the machine goes: a kubelet needs a moment to end them, and to say so. */
export const DRAIN_MARGIN_MS = 3000;
/** What a new pod is expected to take to be ready where the old one does not tell. */
const USUAL_READY_MS = 10_000;
/** One that took longer was slow for other reasons: its image, its node. */
const LONGEST_READY_MS = 60_000;

/** `namespace/name`. */
export function budgetName({ metadata }: PodDisruptionBudget): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** A pod that serves nobody is let go whatever the budget allows, where the budget says so. */
export function mayGoAnyway(pod: Pod, { spec }: PodDisruptionBudget): boolean {
  return pod.status?.phase === 'Pending' || (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' && !isReady(pod));
}

/** A pod that is to leave, under these budgets. `loadingMs` is what pods of its model take to be ready, where that has been learnt. */
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

/** A budget as it stands, some of whose pods leave other nodes at the same time. */
export function drainBudget(budget: PodDisruptionBudget, elsewhere: number): DrainBudget {
  const { desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {};
  const allowed = Math.max(allowedBy(budget), expectedPods - desiredHealthy);
  return { name: budgetName(budget), allowed, away: allowed - allowedBy(budget), elsewhere };
}
