/**
 * Real llmaz 0.1.0 and LeaderWorkerSet 0.9.0 on a real control plane, with kwok for kubelets and the simulated cloud for machines:
 * a Playground becomes a LeaderWorkerSet, that becomes pods, and these get the GPUs of the model's flavors. Spindrift has the rights that its
 * Helm chart gives it. Numbers are those of the design's points.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../src/apis/karpenter/labels.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { EVENTS } from '../../src/apis/kubernetes/event.ts';
import { NODES, type Node } from '../../src/apis/kubernetes/node.ts';
import { type KubeObject, resource } from '../../src/apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../src/apis/kubernetes/pod.ts';
import { LABEL_SET_NAME } from '../../src/apis/leader-worker-set/labels.ts';
import { LEADER_WORKER_SETS } from '../../src/apis/leader-worker-set/leader-worker-set.ts';
import { LABEL_MODEL_NAME } from '../../src/apis/llmaz/labels.ts';
import { OPEN_MODELS } from '../../src/apis/llmaz/open-model.ts';
import { PLAYGROUNDS, type Playground } from '../../src/apis/llmaz/playground.ts';
import {
  ANNOTATION_EXTRA_SPOT_REPLICAS,
  ANNOTATION_INTERRUPT,
  ANNOTATION_READY_REPLICAS,
} from '../../src/apis/spindrift/annotations.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { SPOT_POLICIES, type SpotPolicy } from '../../src/apis/spindrift/spot-policy.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import { installDefinitions } from '../../src/app/install-definitions.ts';
import { machineTypes, spotPrice } from '../../src/cloud/simulated/catalogue.ts';
import { loadSimulatedCloud } from '../../src/cloud/simulated/module.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { isReady } from '../../src/state/is-ready.ts';
import { type InstalledChart, installChart } from '../chart/installed-chart.ts';
import { refusals } from '../chart/rights.ts';
import { Kubectl } from '../kubernetes/harness/kubectl.ts';
import { SpindriftProcess } from '../kubernetes/harness/spindrift-process.ts';
import { untilSo } from '../kubernetes/harness/until-so.ts';
import { findHelm } from '../peers/helm.ts';
import { ModelManagers } from './harness/model-managers.ts';

const clock = new RealClock();
const NAMESPACE = 'default';
const MODEL = 'qwen2-0--5b';
const AWS_GPU = 'karpenter.k8s.aws/instance-gpu-name';
const T4G = ['g5g.xlarge', 'g5g.2xlarge', 'g5g.4xlarge', 'g5g.8xlarge', 'g5g.16xlarge'];
const MACHINES = new Map(machineTypes().map((machine) => [machine.name, machine]));
const BACKEND_RUNTIMES = resource('inference.llmaz.io/v1alpha1', 'BackendRuntime', 'backendruntimes', 'cluster');

describe('spindrift beside real llmaz and LeaderWorkerSet', { timeout: 300_000 }, () => {
  let client: KubeClient;
  let connection: Connection;
  let managers: ModelManagers | undefined;
  let controller: SpindriftProcess | undefined;
  let chart: InstalledChart | undefined;

  const until = (missing: () => Promise<string | undefined>): Promise<void> =>
    untilSo({ clock, withinMs: 240_000, missing });
  const podsOf = async (name: string): Promise<readonly Pod[]> =>
    (await client.list(PODS, { namespace: NAMESPACE, labelSelector: `${LABEL_SET_NAME}=${name}` })).items;
  const nodesOf = async (name: string): Promise<Node[]> => {
    const nodes = new Map((await client.list(NODES)).items.map((node) => [node.metadata.name, node]));
    return (await podsOf(name)).flatMap(({ spec }) => nodes.get(spec.nodeName ?? '') ?? []);
  };
  const label = (nodes: readonly Node[], key: string): string[] =>
    nodes.map(({ metadata }) => metadata.labels?.[key] ?? '').sort();
  const families = async (name: string): Promise<string[]> =>
    label(await nodesOf(name), LABEL_INSTANCE_TYPE).map((type) => type.split('.')[0] ?? '');
  const allServe = async (name: string, count: number): Promise<string | undefined> => {
    const pods = await podsOf(name);
    const ready = pods.filter(isReady).length;
    return ready === count && pods.length === count ? undefined : `${ready} of ${pods.length} pods of ${name} serve`;
  };
  const play = async (name: string, annotations: Record<string, string> = {}, replicas = 1): Promise<void> => {
    const playground: Playground = {
      apiVersion: 'inference.llmaz.io/v1alpha1',
      kind: 'Playground',
      metadata: { name, namespace: NAMESPACE, annotations },
      spec: { replicas, modelClaim: { modelName: MODEL } },
    };
    await client.create(PLAYGROUNDS, playground);
  };
  const soldOut = async (types: readonly string[]): Promise<void> => {
    const overrides = types.map((instanceType) => ({ capacityType: 'spot', instanceType, zone: '*', capacity: 0 }));
    const patch = { type: 'merge', body: { spec: { overrides } } } as const;
    await client.patch(SIMULATED_NODE_CLASSES, { name: DEFAULT_NODE_CLASS.metadata.name ?? '' }, patch);
  };

  beforeAll(async () => {
    const { kubeconfig, directory, binaries, auditLog } = inject('controlPlane');
    ({ client, connection } = await connect({ clock, kubeconfig, requestsPerSecond: 1000, requestBurst: 1000 }));
    managers = await ModelManagers.start({ client, kubeconfig, directory: join(directory, 'models') });
    await installDefinitions(client, [await loadSimulatedCloud()], new AbortController().signal);
    await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
    // What was sold out is tried again soon, so that the test need not wait for it.
    await client.create(SPOT_POLICIES, {
      apiVersion: 'spindrift.dev/v1alpha1',
      kind: 'SpotPolicy',
      metadata: { name: 'soon' },
      spec: { unavailableFor: '20s' },
    } as unknown as SpotPolicy);
    const { template } = DEFAULT_NODE_POOL.spec;
    const requirements = [
      { key: LABEL_CAPACITY_TYPE, operator: 'In' as const, values: ['spot', 'on-demand'] },
      { key: 'spindrift.dev/instance-gpu-count', operator: 'In' as const, values: ['1'] },
    ];
    await client.create(NODE_POOLS, {
      ...DEFAULT_NODE_POOL,
      spec: { ...DEFAULT_NODE_POOL.spec, template: { ...template, spec: { ...template.spec, requirements } } },
    });
    await client.create(BACKEND_RUNTIMES, {
      apiVersion: 'inference.llmaz.io/v1alpha1',
      kind: 'BackendRuntime',
      metadata: { name: 'vllm' },
      spec: {
        commands: ['python3', '-m', 'vllm.entrypoints.openai.api_server'],
        image: 'vllm/vllm-openai',
        version: 'v0.6.0',
        args: [{ name: 'default', flags: ['--model', '{{ .ModelPath }}'] }],
        resources: { requests: { cpu: '2', memory: '4Gi' }, limits: { cpu: '2', memory: '4Gi' } },
      },
    } as KubeObject);
    const flavor = (name: string) => ({
      name,
      requests: { 'nvidia.com/gpu': '1' },
      nodeSelector: { [AWS_GPU]: name },
    });
    await client.create(OPEN_MODELS, {
      apiVersion: 'llmaz.io/v1alpha1',
      kind: 'OpenModel',
      metadata: { name: MODEL },
      spec: {
        familyName: 'qwen2',
        source: { modelHub: { name: 'Huggingface', modelID: 'Qwen/Qwen2-0.5B-Instruct', revision: 'main' } },
        inferenceConfig: { flavors: [flavor('t4g'), flavor('t4')] },
      },
    });
    const cluster = { kubeconfig, kubectl: new Kubectl(binaries.kubectl, kubeconfig), auditLog };
    if (findHelm() !== undefined)
      chart = await installChart(cluster, 'clouds={simulated}', 'settings.readyReplicas=true');
    const args = ['--ready-replicas'];
    controller = new SpindriftProcess(chart?.kubeconfig ?? kubeconfig, join(directory, 'spindrift.log'), { args });
    controller.start();
  });

  afterAll(async () => {
    await controller?.kill();
    await managers?.stop();
    await connection?.close();
  });

  it("9, 10, 16, 25: gives the pod of a Playground a spot machine of the design's first flavor", async () => {
    await play('first');
    await until(() => allServe('first', 1));
    expect(await families('first')).toEqual(['g5g']);
    expect(label(await nodesOf('first'), LABEL_CAPACITY_TYPE)).toEqual(['spot']);
    // llmaz writes the name of the model and the requests of the flavor, and no node selector.
    const [pod] = await podsOf('first');
    expect(pod?.metadata.labels?.[LABEL_MODEL_NAME]).toBe(MODEL);
    expect(pod?.spec.nodeSelector?.[AWS_GPU]).toBeUndefined();
  });

  it('20: takes the second flavor while the first is sold out, and the first again when it is back', async () => {
    await soldOut(T4G);
    const policies = { type: 'merge', body: { spec: { flavorOrder: 'SpotFirst' } } } as const;
    await client.patch(SPOT_POLICIES, { name: 'soon' }, policies);
    await play('second');
    await until(() => allServe('second', 1));
    expect(await families('second')).toEqual(['g4dn']);
    await soldOut([]);
    await clock.sleep(25_000);
    await play('third');
    await until(() => allServe('third', 1));
    expect(await families('third')).toEqual(['g5g']);
    expect(await families('second')).toEqual(['g4dn']);
    for (const name of ['first', 'second', 'third']) await client.delete(PLAYGROUNDS, { namespace: NAMESPACE, name });
    await until(async () => ((await client.list(PODS)).items.length === 0 ? undefined : 'pods are left'));
  });

  it('8: replaces the nodes of a group on two hosts together when they have drifted, although the budget lets one go', async () => {
    const resources = { requests: { 'nvidia.com/gpu': '1' }, limits: { 'nvidia.com/gpu': '1' } };
    const spec = { containers: [{ name: 'server', image: 'vllm/vllm-openai:v0.6.0', resources }] };
    await client.create(LEADER_WORKER_SETS, {
      apiVersion: 'leaderworkerset.x-k8s.io/v1',
      kind: 'LeaderWorkerSet',
      metadata: { name: 'group', namespace: NAMESPACE },
      spec: { replicas: 1, leaderWorkerTemplate: { size: 2, workerTemplate: { spec } } },
    });
    await until(() => allServe('group', 2));
    const first = (await nodesOf('group')).map(({ metadata }) => metadata.name);
    expect(new Set(first).size).toBe(2);
    const pods = (await podsOf('group')).map(({ metadata }) => metadata.uid);
    const body = { spec: { template: { metadata: { labels: { generation: 'two' } } } } };
    await client.patch(NODE_POOLS, { name: DEFAULT_NODE_POOL.metadata.name ?? '' }, { type: 'merge', body });
    await until(async () => {
      const left = (await client.list(NODES)).items.filter(({ metadata }) => first.includes(metadata.name));
      return left.length > 0 ? `${left.length} of its first nodes are left` : allServe('group', 2);
    });
    // With its nodes one after the other, a pod of the restarted group would have been evicted from the second node. How often
    // LeaderWorkerSet itself recreates a leader depends on how soon it sees the deletions, so leaders are not counted.
    const evicted = (await client.list(EVENTS, { namespace: NAMESPACE })).items
      .filter(({ reason, involvedObject }) => reason === 'Evicted' && involvedObject.name?.startsWith('group-0'))
      .map(({ involvedObject }) => involvedObject.uid);
    expect(evicted).not.toEqual([]);
    expect(evicted.filter((uid) => !pods.includes(uid))).toEqual([]);
    await client.delete(LEADER_WORKER_SETS, { namespace: NAMESPACE, name: 'group' });
  });

  it('4, 23: keeps four replicas ready while two of their spot machines are taken back, for less than on demand', async () => {
    await play('chat', { [ANNOTATION_READY_REPLICAS]: '4', [ANNOTATION_EXTRA_SPOT_REPLICAS]: '0' });
    const settled = async (): Promise<string | undefined> => {
      const types = label(await nodesOf('chat'), LABEL_CAPACITY_TYPE);
      const wrong = types.filter((type) => type !== 'spot').length;
      return (await allServe('chat', 4)) ?? (wrong === 0 ? undefined : `${wrong} replicas are on demand`);
    };
    await until(settled);
    const lost = (await nodesOf('chat')).slice(0, 2);
    for (const { metadata } of lost) {
      const body = { metadata: { annotations: { [ANNOTATION_INTERRUPT]: '40s' } } };
      await client.patch(NODES, { name: metadata.name ?? '' }, { type: 'merge', body });
    }
    let fewest = 4;
    const gone = async (): Promise<boolean> => {
      const left = new Set((await client.list(NODES)).items.map(({ metadata }) => metadata.name));
      return lost.every(({ metadata }) => !left.has(metadata.name));
    };
    await until(async () => {
      fewest = Math.min(fewest, (await podsOf('chat')).filter(isReady).length);
      return (await gone()) ? settled() : 'the machines are there';
    });
    expect(fewest).toBeGreaterThanOrEqual(3);
    const nodes = await nodesOf('chat');
    const price = (paid: (node: Node) => number): number => nodes.reduce((sum, node) => sum + paid(node), 0);
    const machineOf = (node: Node) => MACHINES.get(node.metadata.labels?.[LABEL_INSTANCE_TYPE] ?? '');
    const onDemand = price((node) => machineOf(node)?.usdPerHour ?? Number.NaN);
    const spot = price((node) => {
      const machine = machineOf(node);
      return machine === undefined ? Number.NaN : spotPrice(machine, node.metadata.labels?.[LABEL_ZONE] ?? '');
    });
    expect(spot / onDemand).toBeLessThan(0.6);
  });

  it.skipIf(findHelm() === undefined)('needs no right that the chart does not give', () => {
    expect(refusals(chart?.uses() ?? [])).toEqual([]);
  });
});
