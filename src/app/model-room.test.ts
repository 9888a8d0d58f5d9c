/** Room for pods of models that do not exist yet, on the embedded cluster with the whole autoscaler, in virtual time. */
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../apis/karpenter/node-claim.ts';
import { EVENTS } from '../apis/kubernetes/event.ts';
import { PODS, type Pod } from '../apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../apis/kubernetes/workloads.ts';
import {
  ANNOTATION_GROUP_SIZE,
  LABEL_GROUP_INDEX,
  LABEL_SET_NAME,
  LABEL_WORKER_INDEX,
} from '../apis/leader-worker-set/labels.ts';
import { LEADER_WORKER_SETS, type LeaderWorkerSet } from '../apis/leader-worker-set/leader-worker-set.ts';
import { LABEL_MODEL_NAME } from '../apis/llmaz/labels.ts';
import { OPEN_MODELS } from '../apis/llmaz/open-model.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../apis/schema/custom-resource-definition.ts';
import { ANNOTATION_WARM_SPARES } from '../apis/spindrift/annotations.ts';
import { openDefinition } from '../cloud/cluster-api/core/open-definitions.ts';
import type { KubeClient } from '../kube/client.ts';
import { aService, setUpModelCluster, T4G } from './testkit/model-cluster.ts';

const MINUTE = 60_000;
const MODEL = 'qwen2-0--5b';

async function spares(client: KubeClient, text: string): Promise<void> {
  const body = { metadata: { annotations: { [ANNOTATION_WARM_SPARES]: text } } };
  await client.patch(OPEN_MODELS, { name: MODEL }, { type: 'merge', body });
}

describe('warm spares of a model', () => {
  it('are nodes that stand ready, and the next replica serves without a launch (5, 23)', async () => {
    const { clock, client, serving, end } = await setUpModelCluster();
    const claims = async (): Promise<number> => (await client.list(NODE_CLAIMS)).items.length;
    await spares(client, '1');
    await client.create(DEPLOYMENTS, aService('chat', 1));
    await clock.advance(3 * MINUTE);
    expect(await claims()).toBe(2);
    // Empty as it is, it is not taken away.
    await clock.advance(20 * MINUTE);
    expect(await claims()).toBe(2);

    const body = { spec: { replicas: 2 } };
    await client.patch(DEPLOYMENTS, { namespace: 'default', name: 'chat' }, { type: 'merge', body });
    await clock.advance(5000);
    expect(await serving()).toHaveLength(2);
    // And there is another spare in its place.
    await clock.advance(3 * MINUTE);
    expect(await claims()).toBe(3);

    await spares(client, '0');
    await clock.advance(10 * MINUTE);
    expect(await claims()).toBe(2);
    await end();
  });

  it('can be a share, and what is not a number is told', async () => {
    const { clock, client, end } = await setUpModelCluster();
    await spares(client, '50%');
    await client.create(DEPLOYMENTS, aService('chat', 3));
    await clock.advance(4 * MINUTE);
    expect((await client.list(NODE_CLAIMS)).items).toHaveLength(5);
    await spares(client, 'many');
    await clock.advance(MINUTE);
    const said = (await client.list(EVENTS)).items.filter(({ reason }) => reason === 'WarmSparesInvalid');
    expect(said.map(({ message }) => message)).toEqual([expect.stringContaining('is "many": write a number of pods')]);
    await end();
  });
});

const RESOURCES = { requests: { cpu: '2', 'nvidia.com/gpu': '1' }, limits: { 'nvidia.com/gpu': '1' } };
const SPEC = { containers: [{ name: 'model-runner', image: 'vllm:1', resources: RESOURCES }] };

/** A set of one group, whose workers come when its leader is ready, as llmaz makes it. */
function aSet(size: number): LeaderWorkerSet {
  return {
    apiVersion: 'leaderworkerset.x-k8s.io/v1',
    kind: 'LeaderWorkerSet',
    metadata: { name: 'big', namespace: 'default' },
    spec: { replicas: 1, leaderWorkerTemplate: { size, workerTemplate: { spec: SPEC } } },
  };
}

function aLeader(size: number): Pod {
  const labels = {
    [LABEL_MODEL_NAME]: MODEL,
    [LABEL_SET_NAME]: 'big',
    [LABEL_WORKER_INDEX]: '0',
    [LABEL_GROUP_INDEX]: '0',
  };
  const annotations = { [ANNOTATION_GROUP_SIZE]: `${size}` };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'big-0', namespace: 'default', labels, annotations },
    spec: SPEC,
  };
}

async function setUpGroups(size: number, limit?: number) {
  const world = await setUpModelCluster(limit === undefined ? {} : { limits: { 'nvidia.com/gpu': `${limit}` } });
  const { client, clock } = world;
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, openDefinition(LEADER_WORKER_SETS));
  // The informer looks for the kind now and then.
  await clock.advance(2 * MINUTE);
  await client.create(LEADER_WORKER_SETS, aSet(size));
  await clock.advance(5000);
  await client.create(PODS, aLeader(size));
  return world;
}

describe('a group on several hosts', () => {
  it('has room for workers that do not exist yet, of the flavor of its leader, for as long as they take (8)', async () => {
    const { clock, client, nodes, soldOut, end } = await setUpGroups(3);
    await clock.advance(3 * MINUTE);
    expect(await nodes()).toHaveLength(3);
    await soldOut(T4G);
    await clock.advance(20 * MINUTE);
    expect(await nodes()).toHaveLength(3);
    const families = (await nodes()).map(({ metadata }) => metadata.labels?.['spindrift.dev/instance-family']);
    expect(new Set(families)).toEqual(new Set(['g5g']));
    await client.delete(PODS, { namespace: 'default', name: 'big-0' });
    await clock.advance(10 * MINUTE);
    expect(await nodes()).toHaveLength(0);
    await end();
  });

  it('gets no node at all where there is no room for all of it, and is told so (8)', async () => {
    const { clock, client, nodes, end } = await setUpGroups(3, 2);
    await clock.advance(5 * MINUTE);
    expect(await nodes()).toHaveLength(0);
    const said = (await client.list(EVENTS)).items.filter(({ reason }) => reason === 'FailedScheduling');
    expect(said.map(({ message }) => message).join('\n')).toContain(
      'its group of 3 pods is scheduled as a whole, and 1 of them do not fit',
    );
    await end();
  });
});
