/**
 * A cluster for models with a group of a LeaderWorkerSet, and its controller: workers are created when the leader is created or ready, and
 * the whole group restarts when one pod is deleted.
 */
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import { STATEFUL_SETS, type StatefulSet } from '../../apis/kubernetes/workloads.ts';
import {
  ANNOTATION_GROUP_SIZE,
  ANNOTATION_LEADER_NAME,
  LABEL_GROUP_INDEX,
  LABEL_SET_NAME,
  LABEL_WORKER_INDEX,
} from '../../apis/leader-worker-set/labels.ts';
import { LEADER_WORKER_SETS } from '../../apis/leader-worker-set/leader-worker-set.ts';
import { LABEL_MODEL_NAME } from '../../apis/llmaz/labels.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../apis/schema/custom-resource-definition.ts';
import { openDefinition } from '../../cloud/cluster-api/core/open-definitions.ts';
import { isReady } from '../../state/is-ready.ts';
import { setUpModelCluster } from './model-cluster.ts';

const LEADER = { namespace: 'default', name: 'big-0' };
const RESOURCES = { requests: { cpu: '2', 'nvidia.com/gpu': '1' }, limits: { 'nvidia.com/gpu': '1' } };
const SPEC = { containers: [{ name: 'model-runner', image: 'vllm:1', resources: RESOURCES }] };

function metadataOf(worker: number, size: number) {
  const labels = { [LABEL_SET_NAME]: 'big', [LABEL_WORKER_INDEX]: `${worker}`, [LABEL_GROUP_INDEX]: '0' };
  return { labels, annotations: { [ANNOTATION_GROUP_SIZE]: `${size}` } };
}

/** The StatefulSet of the leader. */
function leaderSet(size: number): StatefulSet {
  const { labels, annotations } = metadataOf(0, size);
  const metadata = { labels: { ...labels, [LABEL_MODEL_NAME]: 'qwen2-0--5b' }, annotations };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'big', namespace: 'default' },
    spec: { serviceName: 'big', replicas: 1, selector: { matchLabels: labels }, template: { metadata, spec: SPEC } },
  } as StatefulSet;
}

/** A worker; it is deleted with its leader. */
function aWorker(leader: Pod, number: number, size: number): Pod {
  const { labels, annotations } = metadataOf(number, size);
  const { name = '', uid = '' } = leader.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${number}`,
      namespace: 'default',
      labels,
      annotations: { ...annotations, [ANNOTATION_LEADER_NAME]: name },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec: SPEC,
  };
}

/** Sets up the cluster with the startup policy of the set. `step` advances time, in seconds. */
export async function setUpGroup(size: number, startup: 'LeaderReady' | 'LeaderCreated' = 'LeaderReady') {
  const world = await setUpModelCluster();
  const { client, clock } = world;
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, openDefinition(LEADER_WORKER_SETS));
  // The informer checks for the kind periodically.
  await clock.advance(120_000);
  await client.create(LEADER_WORKER_SETS, {
    apiVersion: 'leaderworkerset.x-k8s.io/v1',
    kind: 'LeaderWorkerSet',
    metadata: { name: 'big', namespace: 'default' },
    spec: { replicas: 1, leaderWorkerTemplate: { size, workerTemplate: { spec: SPEC } } },
  });
  await clock.advance(5000);
  await client.create(STATEFUL_SETS, leaderSet(size));
  const leaders = new Set<string>();
  /** One round of the set's controller. */
  const keep = async (): Promise<void> => {
    const pods = (await client.list(PODS)).items;
    const leader = pods.find(({ metadata }) => metadata.name === LEADER.name);
    if (leader === undefined) return;
    leaders.add(leader.metadata.uid ?? '');
    if (leader.metadata.deletionTimestamp !== undefined) return;
    const workers = pods.filter(({ metadata }) => metadata.annotations?.[ANNOTATION_LEADER_NAME] === LEADER.name);
    const ours = workers.filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === leader.metadata.uid);
    if (ours.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) await client.delete(PODS, LEADER);
    else if ((startup === 'LeaderCreated' || isReady(leader)) && workers.length === 0)
      for (let number = 1; number < size; number++) await client.create(PODS, aWorker(leader, number, size));
  };
  const step = async (milliseconds: number): Promise<void> => {
    for (let passed = 0; passed < milliseconds; passed += 1000) {
      await clock.advance(1000);
      await keep();
    }
  };
  /** The number of starts of the group. */
  const starts = (): number => leaders.size;
  return { ...world, step, starts };
}
