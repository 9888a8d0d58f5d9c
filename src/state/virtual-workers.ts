/** Workers of a LeaderWorkerSet's group that do not exist yet, as virtual pods. */
import { apiVersionOf } from '../apis/kubernetes/object.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import {
  ANNOTATION_GROUP_SIZE,
  ANNOTATION_LEADER_NAME,
  LABEL_GROUP_INDEX,
  LABEL_SET_NAME,
  LABEL_WORKER_INDEX,
} from '../apis/leader-worker-set/labels.ts';
import { LEADER_WORKER_SETS, type LeaderWorkerSet } from '../apis/leader-worker-set/leader-worker-set.ts';
import type { ClusterInformers } from './cluster-informers.ts';
import { leaderName } from './model-flavors.ts';
import { ANNOTATION_VIRTUAL_POD } from './virtual-pod.ts';

/** The number of pods in a group of the set, with the leader. */
function groupSizeOf({ spec }: LeaderWorkerSet): number {
  return spec.leaderWorkerTemplate.size ?? 1;
}

/** Whether a pod leads a group. */
export function isLeader({ metadata }: Pod): boolean {
  return metadata.labels?.[LABEL_WORKER_INDEX] === '0';
}

/** The worker of that number, from 1, as its set will make it once the leader is ready. */
function virtualWorker(set: LeaderWorkerSet, leader: Pod, number: number): Pod {
  const { metadata, spec } = set.spec.leaderWorkerTemplate.workerTemplate;
  const { name = '', namespace = '', uid = '' } = leader.metadata;
  const kind = LEADER_WORKER_SETS;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${number}`,
      namespace,
      uid: `${uid}-worker-${number}`,
      labels: {
        ...metadata?.labels,
        [LABEL_SET_NAME]: set.metadata.name ?? '',
        [LABEL_GROUP_INDEX]: leader.metadata.labels?.[LABEL_GROUP_INDEX] ?? '0',
        [LABEL_WORKER_INDEX]: `${number}`,
      },
      annotations: {
        ...metadata?.annotations,
        [ANNOTATION_VIRTUAL_POD]: 'true',
        [ANNOTATION_LEADER_NAME]: name,
        [ANNOTATION_GROUP_SIZE]: `${groupSizeOf(set)}`,
      },
      ownerReferences: [
        {
          apiVersion: apiVersionOf(kind),
          kind: kind.kind,
          name: set.metadata.name ?? '',
          uid: set.metadata.uid ?? '',
          controller: true,
        },
      ],
    },
    // The leader's node is useless without its workers, so they have its priority.
    spec: { ...spec, ...(leader.spec.priority !== undefined && { priority: leader.spec.priority }) },
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
  };
}

/** The numbers of the workers that do not exist yet. */
function missingWorkers(set: LeaderWorkerSet, workers: readonly Pod[]): number[] {
  const there = new Set(workers.map(({ metadata }) => Number(metadata.labels?.[LABEL_WORKER_INDEX])));
  return Array.from({ length: Math.max(0, groupSizeOf(set) - 1) }, (_, index) => index + 1).filter(
    (number) => !there.has(number),
  );
}

/** The workers of a leader that do not exist yet, as virtual pods; none for other pods. */
export function workersToCome(
  leader: Pod,
  { leaderWorkerSets, pods }: Pick<ClusterInformers, 'leaderWorkerSets' | 'pods'>,
): readonly Pod[] {
  const { namespace = '', name, labels } = leader.metadata;
  const set = isLeader(leader) ? leaderWorkerSets.get({ namespace, name: labels?.[LABEL_SET_NAME] ?? '' }) : undefined;
  if (set === undefined || groupSizeOf(set) < 2) return [];
  const workers = pods.list().filter((pod) => pod.metadata.namespace === namespace && leaderName(pod) === name);
  return missingWorkers(set, workers).map((number) => virtualWorker(set, leader, number));
}
