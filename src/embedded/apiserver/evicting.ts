/** pods/eviction: a delete that checks the PodDisruptionBudgets first. */
import { compileLabelSelector } from '../../apis/kubernetes/label-selector.ts';
import type { ObjectKey } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import { checkPreconditions, type DeleteRequest, deleteObject } from './deleting.ts';
import type { Kind } from './kinds/kind.ts';
import { budgetExceeded, forbidden, serverFailure } from './status-errors.ts';
import { mustExist, type World, writeContext } from './world.ts';

const BUDGETS = 'poddisruptionbudgets.policy';
const BUDGET = { group: 'policy', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets' };
const MOST_DISRUPTED_PODS = 2000;

/** Deletes the pod gracefully if its PodDisruptionBudget allows it; 429 otherwise. */
export function evictPod(world: World, pods: Kind, key: ObjectKey, request: DeleteRequest): void {
  const pod = mustExist(world, pods, key) as unknown as Pod;
  checkPreconditions(pods, key.name, pod.metadata, request);
  const budgets = needsNoBudget(pod) ? [] : budgetsOf(world, pod);
  if (budgets.length > 1) {
    throw serverFailure(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const [budget] = budgets;
  if (budget !== undefined && !evictableUnready(pod, budget)) spend(world, budget, pod, request.dryRun === true);
  if (request.dryRun !== true) world.store.put(pods.collection, withDisruptionTarget(pod, writeContext(world).now));
  deleteObject(world, pods, key, withoutRevision(request));
}

/** Records why the pod is deleted, for controllers that count pod failures. */
function withDisruptionTarget(pod: Pod, now: string): Pod {
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget');
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: now,
  } as const;
  return { ...pod, status: { ...pod.status, conditions: [...others, condition] } };
}

/** Drops the resourceVersion precondition: it has been checked, and the pod has been written since. */
function withoutRevision(request: DeleteRequest): DeleteRequest {
  const { preconditions, ...rest } = request;
  return preconditions?.uid === undefined ? rest : { ...rest, preconditions: { uid: preconditions.uid } };
}

/** Pending, finished and terminating pods are evicted without checking budgets. */
function needsNoBudget(pod: Pod): boolean {
  const phase = pod.status?.phase;
  if (phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending') return true;
  return pod.metadata.deletionTimestamp !== undefined;
}

function budgetsOf(world: World, pod: Pod): PodDisruptionBudget[] {
  const budgets = world.store.collection(BUDGETS).values() as Iterable<PodDisruptionBudget>;
  return [...budgets].filter(
    (budget) =>
      budget.metadata.namespace === pod.metadata.namespace &&
      compileLabelSelector(budget.spec.selector).matches(pod.metadata.labels),
  );
}

/** Whether the budget's unhealthyPodEvictionPolicy allows evicting a pod that is not ready. */
function evictableUnready(pod: Pod, budget: PodDisruptionBudget): boolean {
  if (pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) return false;
  if (budget.spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

/** Takes one disruption from the budget, so that no second eviction uses it before the disruption controller recounts. */
function spend(world: World, budget: PodDisruptionBudget, pod: Pod, dryRun: boolean): void {
  const { metadata, status = {} } = budget;
  const name = metadata.name ?? '';
  const { disruptionsAllowed = 0, disruptedPods = {} } = status;
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    throw budgetExceeded(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (disruptionsAllowed < 0) throw forbidden(BUDGET, name, 'pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > MOST_DISRUPTED_PODS) {
    throw forbidden(BUDGET, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (disruptionsAllowed === 0) throw budgetExceeded(refusal(budget));
  if (dryRun) return;
  const { now } = writeContext(world);
  const left = disruptionsAllowed - 1;
  const conditions = (status.conditions ?? []).map((condition) =>
    condition.type === 'DisruptionAllowed' && left === 0
      ? { ...condition, status: 'False' as const, reason: 'InsufficientPods', lastTransitionTime: now }
      : condition,
  );
  const changed: PodDisruptionBudget = {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: left,
      disruptedPods: { ...disruptedPods, [pod.metadata.name ?? '']: now },
      ...(status.conditions === undefined ? {} : { conditions }),
    },
  };
  world.store.put(BUDGETS, changed);
}

function refusal({ metadata, status }: PodDisruptionBudget): string {
  const failed = status?.conditions?.find(
    ({ type, status: value, reason }) => type === 'DisruptionAllowed' && value === 'False' && reason === 'SyncFailed',
  );
  if (failed !== undefined) {
    return `The disruption budget ${metadata.name} does not allow evicting pods currently because it failed sync: ${failed.message ?? ''}`;
  }
  const { desiredHealthy = 0, currentHealthy = 0 } = status ?? {};
  return `The disruption budget ${metadata.name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
}
