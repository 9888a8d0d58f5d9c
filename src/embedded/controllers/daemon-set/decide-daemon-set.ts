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
  const outdated: { readonly pod: Pod; readonly available: boolean }[] = [];
  let unavailable = 0;
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
    const [kept, ...surplus] = oldestFirst(alive.filter((pod) => !isFinished(pod)));
    // A pod that has ended is replaced; where several run, the oldest stays.
    toDelete.push(...alive.filter(isFinished), ...surplus);
    if (here.length === 0) create.push(name);
    if (kept === undefined) {
      unavailable++;
      continue;
    }
    counts.current++;
    const available = isAvailable(kept, minReadySeconds, now);
    if (isReady(kept)) counts.ready++;
    if (available) counts.available++;
    if (kept.metadata.labels?.[REVISION_LABEL] === hash) {
      counts.updated++;
      if (!available) unavailable++;
    } else outdated.push({ pod: kept, available });
  }
  // Pods on nodes that are not there any more are left to those who clean up after nodes.
  if (updateStrategy?.type !== 'OnDelete')
    toDelete.push(...replaceable(daemonSet, outdated, counts.desired, unavailable));
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

/** Pods of an old template that may go now: those that do not serve anyway, and as many others as may be missing. */
function replaceable(
  daemonSet: DaemonSet,
  outdated: readonly { pod: Pod; available: boolean }[],
  desired: number,
  unavailable: number,
): Pod[] {
  const maxUnavailable = Math.max(
    1,
    scaledValue(daemonSet.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, desired, 'up'),
  );
  const broken = outdated.filter(({ available }) => !available).map(({ pod }) => pod);
  const serving = outdated.filter(({ available }) => available).map(({ pod }) => pod);
  return [...broken, ...serving.slice(0, Math.max(0, maxUnavailable - unavailable - broken.length))];
}

function oldestFirst(pods: readonly Pod[]): Pod[] {
  const rank = ({ spec, metadata }: Pod): string =>
    `${spec.nodeName ? 0 : 1} ${metadata.creationTimestamp ?? ''} ${metadata.uid ?? ''}`;
  return [...pods].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}
