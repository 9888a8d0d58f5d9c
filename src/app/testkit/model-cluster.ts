/** The embedded cluster with the whole autoscaler in virtual time, and a pool of machines with one GPU each. */
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE } from '../../apis/karpenter/labels.ts';
import { NODE_POOLS } from '../../apis/karpenter/node-pool.ts';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import { NODES, type Node } from '../../apis/kubernetes/node.ts';
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import type { Deployment } from '../../apis/kubernetes/workloads.ts';
import { ANNOTATION_FLAVORS, LABEL_MODEL_NAME } from '../../apis/llmaz/labels.ts';
import { OPEN_MODEL_DEFINITION, OPEN_MODELS } from '../../apis/llmaz/open-model.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../apis/schema/custom-resource-definition.ts';
import { SIMULATED_NODE_CLASSES } from '../../apis/spindrift/simulated-node-class.ts';
import { loadSimulatedCloud } from '../../cloud/simulated/module.ts';
import { EmbeddedCluster } from '../../embedded/cluster.ts';
import { READY_AFTER } from '../../embedded/kubelet/pod-script.ts';
import { aDeployment, aTemplate } from '../../embedded/testkit/workloads.ts';
import { SILENT_LOGGER } from '../../platform/logger.ts';
import { Metrics } from '../../platform/metrics.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { isReady } from '../../state/is-ready.ts';
import { aModel } from '../../state/testkit/a-model.ts';
import { Autoscaler } from '../autoscaler.ts';
import { DEFAULT_NODE_CLASS } from '../default-pool.ts';
import { installDefinitions } from '../install-definitions.ts';

/** Machine types with a T4G. */
export const T4G = ['g5g.xlarge', 'g5g.2xlarge', 'g5g.4xlarge', 'g5g.8xlarge', 'g5g.16xlarge'];

/** Machine types with one T4. */
export const T4 = ['g4dn.xlarge', 'g4dn.2xlarge', 'g4dn.4xlarge', 'g4dn.8xlarge', 'g4dn.16xlarge'];

/** Starts the cluster; without `llmaz` its kinds are missing. */
export async function setUpModelCluster({
  llmaz = true,
  capacityTypes = ['spot'],
  limits = {},
}: {
  llmaz?: boolean;
  capacityTypes?: string[];
  limits?: Record<string, string>;
} = {}) {
  const clock = new VirtualClock();
  const random = seededRandom('models');
  const cluster = new EmbeddedCluster({ clock, random });
  const stop = new AbortController();
  const { client } = cluster;
  const running: Promise<unknown>[] = [cluster.run(stop.signal)];
  const clouds = [await loadSimulatedCloud({ powerOff: (node) => cluster.kubelets.kill(node) })];
  await clock.run(installDefinitions(client, clouds, stop.signal));
  if (llmaz) {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, OPEN_MODEL_DEFINITION);
    await client.create(OPEN_MODELS, aModel('qwen2-0--5b', ['t4g', 't4']));
  }
  await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
  const requirements = [
    { key: LABEL_CAPACITY_TYPE, operator: 'In' as const, values: capacityTypes },
    { key: 'spindrift.dev/instance-gpu-count', operator: 'In' as const, values: ['1'] },
  ];
  const pool = aNodePool({ name: 'inference', spec: { limits }, template: { requirements } });
  await client.create(NODE_POOLS, { ...pool, metadata: { name: 'inference' } });
  const metrics = new Metrics();
  const autoscaler = new Autoscaler({
    ...{ client, clock, random, logger: SILENT_LOGGER, metrics, cluster: 'test' },
    ...{ batchIdleMs: 1000, batchMaxMs: 10_000, solveSteps: 100_000 },
    clouds,
  });
  let term = new AbortController();
  const act = (): void => {
    term = new AbortController();
    running.push(autoscaler.act(AbortSignal.any([stop.signal, term.signal])));
  };
  running.push(autoscaler.watch(stop.signal));
  act();
  await clock.advance(10_000);
  /** The families of the machines that run the pods of a workload. */
  const families = async (app: string): Promise<string[]> => {
    const nodes = new Map((await client.list(NODES)).items.map((node) => [node.metadata.name, node]));
    return (await client.list(PODS)).items
      .filter(({ metadata, status }) => metadata.labels?.app === app && status?.phase === 'Running')
      .map(({ spec }) => nodes.get(spec.nodeName ?? '')?.metadata.labels?.[LABEL_INSTANCE_TYPE]?.split('.')[0] ?? '')
      .sort();
  };
  const soldOut = async (types: readonly string[]): Promise<void> => {
    const overrides = types.map((instanceType) => ({ capacityType: 'spot', instanceType, zone: '*', capacity: 0 }));
    const patch = { type: 'merge', body: { spec: { overrides } } } as const;
    await client.patch(SIMULATED_NODE_CLASSES, { name: 'default' }, patch);
  };
  /** Simulates a change of leader: controllers lose their memory. */
  const restart = (): void => {
    term.abort(new Error('the end of a term'));
    act();
  };
  const end = async (): Promise<void> => {
    stop.abort(new Error('the end'));
    await clock.run(Promise.allSettled(running), 'the end of the world');
  };
  /** The ready pods. */
  const serving = async (): Promise<Pod[]> => (await client.list(PODS)).items.filter(isReady);
  const nodes = async (): Promise<readonly Node[]> => (await client.list(NODES)).items;
  return { clock, client, cluster, metrics, families, serving, nodes, soldOut, restart, end };
}

/** Settings of a Deployment that serves a model. */
export interface ServiceOptions {
  readonly flavors?: string | undefined;
  /** Annotations of the Deployment. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** How long the model takes to load. */
  readonly loading?: string;
}

/** A Deployment whose pods serve the model of the design's example. */
export function aService(
  name: string,
  replicas: number,
  { flavors, annotations: own, loading }: ServiceOptions = {},
): Deployment {
  const resources = { requests: { cpu: '2', 'nvidia.com/gpu': '1' }, limits: { 'nvidia.com/gpu': '1' } };
  const containers = [{ name: 'model-runner', image: 'vllm:1', resources }];
  const template = aTemplate(name, 'vllm:1', { containers } as Partial<Pod['spec']>);
  const labels = { ...template.metadata?.labels, [LABEL_MODEL_NAME]: 'qwen2-0--5b' };
  const annotations = {
    ...(flavors !== undefined && { [ANNOTATION_FLAVORS]: flavors }),
    ...(loading !== undefined && { [READY_AFTER]: loading }),
  };
  const made = aDeployment(name, { replicas, template: { ...template, metadata: { labels, annotations } } });
  return { ...made, metadata: { ...made.metadata, ...(own && { annotations: own }) } };
}
