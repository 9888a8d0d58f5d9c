/** Next steps of a StatefulSet: one pod at a time in order, or all at once with policy Parallel. Pure. */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { StatefulSet } from '../../../apis/kubernetes/workloads.ts';
import { scaledValue } from '../int-or-percent.ts';
import { isAvailable, isFinished, isReady, isTerminating, untilAvailable } from '../pod-facts.ts';
import { REVISION_LABEL } from '../revisions.ts';
import { compact, unlessZero } from '../status-change.ts';
import { ordinalOf } from './stateful-pod.ts';

export interface StatefulSetPlan {
  /** Ordinals to create pods for, with the name of each pod's revision. */
  readonly create: readonly { readonly ordinal: number; readonly revision: string }[];
  readonly delete: readonly Pod[];
  readonly status: Readonly<Record<string, unknown>>;
  readonly againAfterMs: number | undefined;
}

/** `update` is the name of the current template's revision. */
export function decideStatefulSet(
  set: StatefulSet,
  pods: readonly Pod[],
  update: string,
  now: number,
): StatefulSetPlan {
  const { replicas = 1, minReadySeconds = 0, ordinals } = set.spec;
  const first = ordinals?.start ?? 0;
  const current = set.status?.currentRevision ?? update;
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  const wanted = Array.from({ length: replicas }, (_, index) => first + index);
  const surplus = [...byOrdinal]
    .filter(([ordinal]) => ordinal !== undefined && (ordinal < first || ordinal >= first + replicas))
    .sort(([a], [b]) => (b as number) - (a as number))
    .map(([, pod]) => pod);
  const healthy = (pod: Pod): boolean =>
    isRunningAndReady(pod) && isAvailable(pod, minReadySeconds, now) && !isTerminating(pod);
  const step = { create: [] as { ordinal: number; revision: string }[], delete: [] as Pod[] };
  if (set.metadata.deletionTimestamp === undefined) {
    const settled = fillPlaces(set, wanted, byOrdinal, healthy, current, update, step);
    const scaledDown = settled && removeSurplus(set, surplus, step);
    if (scaledDown) replaceOutdated(set, wanted, byOrdinal, healthy, update, step);
  }
  return {
    ...step,
    status: status(set, pods, current, update, now),
    againAfterMs: untilAvailable(pods, minReadySeconds, now),
  };
}

/** Creates missing pods. Returns whether all exist (and are healthy, if ordered), so that later steps may run. */
function fillPlaces(
  set: StatefulSet,
  wanted: readonly number[],
  byOrdinal: ReadonlyMap<number | undefined, Pod>,
  healthy: (pod: Pod) => boolean,
  current: string,
  update: string,
  step: { create: { ordinal: number; revision: string }[]; delete: Pod[] },
): boolean {
  const ordered = set.spec.podManagementPolicy !== 'Parallel';
  let complete = true;
  for (const ordinal of wanted) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) {
      step.create.push({ ordinal, revision: ordinal < heldBackBelow(set) ? current : update });
      complete = false;
    } else if (isFinished(pod) && !isTerminating(pod)) {
      step.delete.push(pod);
      complete = false;
    } else if (isTerminating(pod)) {
      if (ordered) return false;
      continue;
    } else if (healthy(pod) || !ordered) continue;
    else complete = false;
    if (ordered) return false;
  }
  return complete;
}

/** Deletes surplus pods from the highest ordinal down. Returns whether none is left. */
function removeSurplus(set: StatefulSet, surplus: readonly Pod[], step: { delete: Pod[] }): boolean {
  const ordered = set.spec.podManagementPolicy !== 'Parallel';
  for (const pod of surplus) {
    if (!isTerminating(pod)) step.delete.push(pod);
    if (ordered) return false;
  }
  return surplus.length === 0 || !ordered;
}

/** Deletes pods of other revisions from the highest ordinal down, within maxUnavailable. */
function replaceOutdated(
  set: StatefulSet,
  wanted: readonly number[],
  byOrdinal: ReadonlyMap<number | undefined, Pod>,
  healthy: (pod: Pod) => boolean,
  update: string,
  step: { delete: Pod[] },
): void {
  if (set.spec.updateStrategy?.type === 'OnDelete') return;
  const { maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  let missing = Math.max(1, scaledValue(maxUnavailable, wanted.length, 'up'));
  for (const ordinal of [...wanted].reverse()) {
    const pod = byOrdinal.get(ordinal);
    if (ordinal < heldBackBelow(set) || missing <= 0) return;
    if (pod === undefined) continue;
    if (pod.metadata.labels?.[REVISION_LABEL] !== update && !isTerminating(pod)) {
      step.delete.push(pod);
      missing--;
    } else if (!healthy(pod)) missing--;
  }
}

/** Pods below this ordinal stay at the previous revision. */
function heldBackBelow({ spec }: StatefulSet): number {
  if (spec.updateStrategy?.type === 'OnDelete') return Number.NEGATIVE_INFINITY;
  return (spec.ordinals?.start ?? 0) + (spec.updateStrategy?.rollingUpdate?.partition ?? 0);
}

function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isReady(pod);
}

function status(
  set: StatefulSet,
  pods: readonly Pod[],
  current: string,
  update: string,
  now: number,
): Record<string, unknown> {
  const { replicas = 1, minReadySeconds = 0, updateStrategy } = set.spec;
  const created = pods.filter((pod) => ordinalOf(set, pod) !== undefined && !isFinished(pod));
  const staying = created.filter((pod) => !isTerminating(pod));
  const ready = created.filter(isRunningAndReady);
  const of = (revision: string): number =>
    staying.filter(({ metadata }) => metadata.labels?.[REVISION_LABEL] === revision).length;
  const updated = of(update);
  const done =
    updateStrategy?.type !== 'OnDelete' &&
    updated === replicas &&
    created.length === replicas &&
    ready.filter(({ metadata }) => metadata.labels?.[REVISION_LABEL] === update).length === replicas;
  return compact({
    observedGeneration: set.metadata.generation,
    replicas: created.length,
    readyReplicas: unlessZero(ready.length),
    availableReplicas: ready.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    currentReplicas: unlessZero(done ? updated : of(current)),
    updatedReplicas: unlessZero(updated),
    currentRevision: done ? update : current,
    updateRevision: update,
    collisionCount: set.status?.collisionCount ?? 0,
  });
}
