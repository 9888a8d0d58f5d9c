/** What a DaemonSet needs: pods on nodes without one, none where they do not belong, and the new template everywhere. Pure. */
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
  // Pods on nodes that are not there any more are left to those who clean up after nodes.
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
    // A pod that has ended is replaced; of several of one template the oldest stays.
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

/** A node where a pod belongs, with the pods of the old and of the new template that it has. */
interface Place {
  readonly name: string;
  readonly old: Pod | undefined;
  readonly fresh: Pod | undefined;
  readonly oldServes: boolean;
  readonly freshServes: boolean;
  /** A pod there has not gone yet, so that the next cannot come. */
  readonly waits: boolean;
}

interface RollOutStep {
  readonly create: readonly string[];
  readonly delete: readonly Pod[];
}

/** The next step to the new template: first the new pod and then the old one away, or the other way round. */
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

/** Pods of the old template that may go now: those that do not serve anyway, and as many others as may be missing. */
function replaceable(places: readonly Place[], maxUnavailable: number): Pod[] {
  // Where both are there, the new one came too early, and the old one goes.
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
