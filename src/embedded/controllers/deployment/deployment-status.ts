/** Calculates the status of a Deployment. Pure. */
import type { Deployment, ReplicaSet, WorkloadCondition } from '../../../apis/kubernetes/workloads.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { ConditionList } from '../condition-list.ts';
import { compact, unlessZero } from '../status-change.ts';
import { desiredReplicas, rollingBounds, specReplicas, statusCount } from './deployment-facts.ts';

export interface DeploymentCounts {
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
}

const DEFAULT_DEADLINE_SECONDS = 600;
/** Kubernetes' value for no deadline. */
const NO_DEADLINE_SECONDS = 2 ** 31 - 1;

/** The step being taken while the status is written. */
export interface RolloutStep {
  /** The name of a ReplicaSet that is being created. */
  readonly created?: string;
  /** Whether to check the progress; false while only the size changes. */
  readonly rollout: boolean;
}

/** The status at this moment. */
export function deploymentStatus(
  deployment: Deployment,
  fresh: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  now: number,
  step: RolloutStep,
): Record<string, unknown> {
  const all = fresh === undefined ? old : [...old, fresh];
  const counts: DeploymentCounts = {
    replicas: statusCount(all, 'replicas'),
    updatedReplicas: fresh?.status?.replicas ?? 0,
    readyReplicas: statusCount(all, 'readyReplicas'),
    availableReplicas: statusCount(all, 'availableReplicas'),
  };
  const unavailable = Math.max(0, specReplicas(all) - counts.availableReplicas);
  return compact({
    observedGeneration: deployment.metadata.generation,
    replicas: unlessZero(counts.replicas),
    updatedReplicas: unlessZero(counts.updatedReplicas),
    readyReplicas: unlessZero(counts.readyReplicas),
    availableReplicas: unlessZero(counts.availableReplicas),
    unavailableReplicas: unlessZero(unavailable),
    terminatingReplicas: statusCount(all, 'terminatingReplicas'),
    collisionCount: deployment.status?.collisionCount,
    conditions: conditions(deployment, fresh, old, counts, now, step),
  });
}

/** Whether all pods are new and available, and no old pod is left. */
export function isComplete(deployment: Deployment, counts: DeploymentCounts): boolean {
  const desired = desiredReplicas(deployment);
  return counts.updatedReplicas === desired && counts.replicas === desired && counts.availableReplicas === desired;
}

/** When the progress deadline expires; undefined if it is not running. */
export function deadlineAt(deployment: Deployment): number | undefined {
  const progressing = deployment.status?.conditions?.find(({ type }) => type === 'Progressing');
  const settled = ['NewReplicaSetAvailable', 'ProgressDeadlineExceeded', 'DeploymentPaused'].includes(
    progressing?.reason ?? '',
  );
  if (progressing === undefined || settled || !hasDeadline(deployment)) return undefined;
  return (parseTimestamp(progressing.lastUpdateTime) ?? 0) + deadlineSeconds(deployment) * 1000;
}

function conditions(
  deployment: Deployment,
  fresh: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  counts: DeploymentCounts,
  now: number,
  step: RolloutStep,
): readonly WorkloadCondition[] {
  const list = new ConditionList(deployment.status?.conditions, toTimestamp(now as EpochMs));
  if (counts.availableReplicas >= desiredReplicas(deployment) - rollingBounds(deployment).maxUnavailable) {
    list.set('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.');
  } else list.set('Available', 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.');
  setProgressing(list, deployment, fresh, counts, now, step);
  const failure = [...(fresh === undefined ? [] : [fresh]), ...old]
    .flatMap(({ status }) => status?.conditions ?? [])
    .find(({ type }) => type === 'ReplicaFailure');
  if (failure === undefined) list.remove('ReplicaFailure');
  else list.set('ReplicaFailure', failure.status, failure.reason ?? '', failure.message ?? '');
  return list.all;
}

function setProgressing(
  list: ConditionList,
  deployment: Deployment,
  fresh: ReplicaSet | undefined,
  counts: DeploymentCounts,
  now: number,
  step: RolloutStep,
): void {
  const known = list.get('Progressing');
  if (!hasDeadline(deployment)) {
    list.remove('Progressing');
    return;
  }
  if (deployment.spec.paused) {
    if (known?.reason !== 'ProgressDeadlineExceeded')
      list.set('Progressing', 'Unknown', 'DeploymentPaused', 'Deployment is paused');
    return;
  }
  if (known?.reason === 'DeploymentPaused')
    list.set('Progressing', 'Unknown', 'DeploymentResumed', 'Deployment is resumed');
  if (step.created !== undefined) {
    list.set('Progressing', 'True', 'NewReplicaSetCreated', `Created new replica set "${step.created}"`);
    return;
  }
  if (known === undefined && fresh !== undefined) {
    list.set('Progressing', 'True', 'FoundNewReplicaSet', `Found new replica set "${fresh.metadata.name}"`);
  }
  const settled = known?.reason === 'NewReplicaSetAvailable' && counts.replicas === counts.updatedReplicas;
  if (!step.rollout || settled) return;
  const subject =
    fresh === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${fresh.metadata.name}"`;
  if (isComplete(deployment, counts)) {
    list.set('Progressing', 'True', 'NewReplicaSetAvailable', `${subject} has successfully progressed.`);
  } else if (hasProgressed(deployment, counts)) {
    list.set('Progressing', 'True', 'ReplicaSetUpdated', `${subject} is progressing.`, { dateAnew: true });
  } else if ((deadlineAt(deployment) ?? Number.POSITIVE_INFINITY) < now) {
    list.set('Progressing', 'False', 'ProgressDeadlineExceeded', `${subject} has timed out progressing.`);
  }
}

function hasProgressed(deployment: Deployment, counts: DeploymentCounts): boolean {
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = deployment.status ?? {};
  return (
    counts.updatedReplicas > updatedReplicas ||
    counts.replicas - counts.updatedReplicas < replicas - updatedReplicas ||
    counts.readyReplicas > readyReplicas ||
    counts.availableReplicas > availableReplicas
  );
}

function deadlineSeconds(deployment: Deployment): number {
  return deployment.spec.progressDeadlineSeconds ?? DEFAULT_DEADLINE_SECONDS;
}

function hasDeadline(deployment: Deployment): boolean {
  return deadlineSeconds(deployment) !== NO_DEADLINE_SECONDS;
}
