/** Next steps of a ReplicaSet: pods to create, pods to delete, and its status. Pure. */
import { matchLabels } from '../../../apis/kubernetes/label-selector.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { ReplicaSet, WorkloadCondition } from '../../../apis/kubernetes/workloads.ts';
import { type EpochMs, toTimestamp } from '../../../platform/clock.ts';
import { isActive, isAvailable, isReady, isTerminating, untilAvailable } from '../pod-facts.ts';
import { compact, unlessZero } from '../status-change.ts';
import { podsToDelete } from './pods-to-delete.ts';

export interface ReplicaSetPlan {
  readonly create: number;
  readonly delete: readonly Pod[];
  readonly status: Readonly<Record<string, unknown>>;
  /** Delay until something changes by time alone. */
  readonly againAfterMs: number | undefined;
}

/** At most this many pods are created or deleted in one reconcile. */
const BURST = 500;

export function decideReplicaSet(
  replicaSet: ReplicaSet,
  pods: readonly Pod[],
  now: number,
  failure?: string,
): ReplicaSetPlan {
  const { replicas = 1, minReadySeconds = 0, template } = replicaSet.spec;
  const labels = matchLabels(template.metadata?.labels ?? {});
  const active: Pod[] = [];
  const counts = { labeled: 0, ready: 0, available: 0, terminating: 0 };
  for (const pod of pods) {
    if (isTerminating(pod)) counts.terminating++;
    if (!isActive(pod)) continue;
    active.push(pod);
    if (labels.matches(pod.metadata.labels)) counts.labeled++;
    if (!isReady(pod)) continue;
    counts.ready++;
    if (isAvailable(pod, minReadySeconds, now)) counts.available++;
  }
  const difference = replicas - active.length;
  const deleting = replicaSet.metadata.deletionTimestamp !== undefined;
  return {
    create: deleting ? 0 : Math.min(BURST, Math.max(0, difference)),
    delete: deleting || difference >= 0 ? [] : podsToDelete(active, Math.min(BURST, -difference)),
    status: compact({
      replicas: active.length,
      fullyLabeledReplicas: unlessZero(counts.labeled),
      readyReplicas: unlessZero(counts.ready),
      availableReplicas: unlessZero(counts.available),
      terminatingReplicas: counts.terminating,
      observedGeneration: replicaSet.metadata.generation,
      conditions: failureCondition(replicaSet, failure, now),
    }),
    againAfterMs: untilAvailable(active, minReadySeconds, now),
  };
}

function failureCondition(
  replicaSet: ReplicaSet,
  failure: string | undefined,
  now: number,
): readonly WorkloadCondition[] | undefined {
  if (failure === undefined) return undefined;
  const known = replicaSet.status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
  const lastTransitionTime = known?.lastTransitionTime ?? toTimestamp(now as EpochMs);
  return [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: failure, lastTransitionTime }];
}
