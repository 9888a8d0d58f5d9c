/** Next steps of a DaemonSet: create missing pods, delete misplaced pods, roll out the new template. Pure. */
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { DaemonSet } from '../../../apis/kubernetes/workloads.ts';
import { scaledValue } from '../int-or-percent.ts';
import { isAvailable, isFinished, isReady, isTerminating, untilAvailable } from '../pod-facts.ts';
import { REVISION_LABEL } from '../revisions.ts';
import { compact, unlessZero } from '../status-change.ts';
import { daemonNodes, nodeOf } from './daemon-pods.ts';

export interface DaemonSetPlan {
  /** Nodes that get a pod. */
  readonly create: readonly string[];
  readonly delete: readonly Pod[];
  readonly status: Readonly<Record<string, unknown>>;
  readonly againAfterMs: number | undefined;
}

export function decideDaemonSet(
  daemonSet: DaemonSet,
  nodes: readonly Node[],
  pods: readonly Pod[],
  hash: string,
  now: number,
): DaemonSetPlan {
  const { minReadySeconds = 0, updateStrategy } = daemonSet.spec;
  const byNode = Map.groupBy(pods, nodeOf);
  const ask = daemonNodes(daemonSet);
  const create: string[] = [];
  const toDelete: Pod[] = [];
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 };
  const places: Place[] = [];
  // Pods on nodes that no longer exist are left to the pod garbage collector.
  for (const node of nodes) {
    const name = node.metadata.name ?? '';
    const here = byNode.get(name) ?? [];
    const alive = here.filter((pod) => !isTerminating(pod));
    const { shouldRun, mayStay } = ask(node);
    if (!shouldRun) {
      if (here.length > 0) counts.misscheduled++;
      if (!mayStay) toDelete.push(...alive);
      continue;
    }
    counts.desired++;
    const running = oldestFirst(alive.filter((pod) => !isFinished(pod)));
    const isNew = ({ metadata }: Pod): boolean => metadata.labels?.[REVISION_LABEL] === hash;
    const fresh = running.find(isNew);
    const old = running.find((pod) => !isNew(pod));
    // Finished pods are replaced. Of several pods with the same template, the oldest stays.
    toDelete.push(...alive.filter(isFinished), ...running.filter((pod) => pod !== fresh && pod !== old));
    if (here.length === 0) create.push(name);
    const available = (pod: Pod | undefined): boolean => pod !== undefined && isAvailable(pod, minReadySeconds, now);
    places.push({
      name,
      old,
      fresh,
      oldServes: available(old),
      freshServes: available(fresh),
      waits: here.length > running.length,
    });
    const [shown] = running;
    if (shown === undefined) continue;
    counts.current++;
    if (isReady(shown)) counts.ready++;
    if (available(shown)) counts.available++;
    if (isNew(shown)) counts.updated++;
  }
  if (updateStrategy?.type !== 'OnDelete') {
    const step = rollOut(daemonSet, places, counts.desired);
    create.push(...step.create);
    toDelete.push(...step.delete);
  }
  const deleting = daemonSet.metadata.deletionTimestamp !== undefined;
  return {
    create: deleting ? [] : create,
    delete: deleting ? [] : toDelete,
    status: compact({
      currentNumberScheduled: counts.current,
      desiredNumberScheduled: counts.desired,
      numberMisscheduled: counts.misscheduled,
      numberReady: counts.ready,
      numberAvailable: unlessZero(counts.available),
      numberUnavailable: unlessZero(counts.desired - counts.available),
      updatedNumberScheduled: unlessZero(counts.updated),
      observedGeneration: daemonSet.metadata.generation,
    }),
    againAfterMs: untilAvailable(pods, minReadySeconds, now),
  };
}

/** A node that should run a pod, with its pods of the old and of the new template. */
interface Place {
  readonly name: string;
  readonly old: Pod | undefined;
  readonly fresh: Pod | undefined;
  readonly oldServes: boolean;
  readonly freshServes: boolean;
  /** A pod on the node is still being removed, so the next one cannot be created. */
  readonly waits: boolean;
}

interface RollOutStep {
  readonly create: readonly string[];
  readonly delete: readonly Pod[];
}

/** The next step of a rollout. With maxSurge the new pod is created first, otherwise the old one is deleted first. */
function rollOut(daemonSet: DaemonSet, places: readonly Place[], desired: number): RollOutStep {
  const { maxSurge = 0, maxUnavailable = 1 } = daemonSet.spec.updateStrategy?.rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, desired, 'up');
  const outdated = places.filter(({ old }) => old !== undefined);
  if (surge === 0)
    return { create: [], delete: replaceable(places, Math.max(1, scaledValue(maxUnavailable, desired, 'up'))) };
  const replaced = outdated.filter(({ freshServes }) => freshServes);
  const alone = outdated.filter(({ fresh, waits }) => fresh === undefined && !waits);
  const broken = alone.filter(({ oldServes }) => !oldServes);
  const surging = outdated.filter(({ fresh, freshServes }) => fresh !== undefined && !freshServes).length;
  const candidates = alone.filter(({ oldServes }) => oldServes).slice(0, Math.max(0, surge - surging - broken.length));
  return {
    create: [...broken, ...candidates].map(({ name }) => name),
    delete: replaced.flatMap(({ old }) => (old === undefined ? [] : [old])),
  };
}

/** Old pods to delete now: all that are not available, and available ones within maxUnavailable. */
function replaceable(places: readonly Place[], maxUnavailable: number): Pod[] {
  // If a node has both pods, the new one was created too early, and the old one is deleted.
  const doubled = places.filter(({ old, fresh }) => old !== undefined && fresh !== undefined);
  const outdated = places.filter(({ old, fresh }) => old !== undefined && fresh === undefined);
  const broken = outdated.filter(({ oldServes }) => !oldServes);
  const serving = outdated.filter(({ oldServes }) => oldServes);
  const missing = places.filter(({ old, freshServes }) => old === undefined && !freshServes).length;
  const more = serving.slice(0, Math.max(0, maxUnavailable - missing - broken.length));
  return [...doubled, ...broken, ...more].flatMap(({ old }) => (old === undefined ? [] : [old]));
}

function oldestFirst(pods: readonly Pod[]): Pod[] {
  const rank = ({ spec, metadata }: Pod): string =>
    `${spec.nodeName ? 0 : 1} ${metadata.creationTimestamp ?? ''} ${metadata.uid ?? ''}`;
  return [...pods].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}
