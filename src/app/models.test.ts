/** Pods that serve a model, on the embedded cluster with the whole autoscaler, in virtual time: the example of llmaz's design. */
import { describe, expect, it } from 'vitest';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE } from '../apis/karpenter/labels.ts';
import { NODE_CLAIMS } from '../apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../apis/karpenter/node-pool.ts';
import { aNodePool } from '../apis/karpenter/testkit/a-node-pool.ts';
import { EVENTS } from '../apis/kubernetes/event.ts';
import { NODES } from '../apis/kubernetes/node.ts';
import { PODS, type Pod } from '../apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS } from '../apis/kubernetes/workloads.ts';
import { ANNOTATION_FLAVORS, LABEL_MODEL_NAME } from '../apis/llmaz/labels.ts';
import { OPEN_MODEL_DEFINITION, OPEN_MODELS } from '../apis/llmaz/open-model.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../apis/schema/custom-resource-definition.ts';
import { ANNOTATION_INTERRUPT } from '../apis/spindrift/annotations.ts';
import { SIMULATED_NODE_CLASSES } from '../apis/spindrift/simulated-node-class.ts';
import { type MachineType, machineTypes, spotPrice } from '../cloud/simulated/catalogue.ts';
import { loadSimulatedCloud } from '../cloud/simulated/module.ts';
import { EmbeddedCluster } from '../embedded/cluster.ts';
import { aDeployment, aTemplate } from '../embedded/testkit/workloads.ts';
import { SILENT_LOGGER } from '../platform/logger.ts';
import { Metrics } from '../platform/metrics.ts';
import { seededRandom } from '../platform/random.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { aModel } from '../state/testkit/a-model.ts';
import { Autoscaler } from './autoscaler.ts';
import { DEFAULT_NODE_CLASS } from './default-pool.ts';
import { installDefinitions } from './install-definitions.ts';

const MINUTE = 60_000;

async function setUp({ llmaz = true } = {}) {
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
    { key: LABEL_CAPACITY_TYPE, operator: 'In' as const, values: ['spot'] },
    { key: 'spindrift.dev/instance-gpu-count', operator: 'In' as const, values: ['1'] },
  ];
  const pool = aNodePool({ name: 'inference', template: { requirements } });
  await client.create(NODE_POOLS, { ...pool, metadata: { name: 'inference' } });
  const autoscaler = new Autoscaler({
    ...{ client, clock, random, logger: SILENT_LOGGER, metrics: new Metrics(), cluster: 'test' },
    ...{ batchIdleMs: 1000, batchMaxMs: 10_000, solveSteps: 100_000 },
    clouds,
  });
  running.push(autoscaler.watch(stop.signal), autoscaler.act(stop.signal));
  await clock.advance(10_000);
  /** The families of the machines that pods run on, by the pod's workload. */
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
  const end = async (): Promise<void> => {
    stop.abort(new Error('the end'));
    await clock.run(Promise.allSettled(running), 'the end of the world');
  };
  return { clock, client, families, soldOut, end };
}

function service(name: string, replicas: number, flavors?: string) {
  const resources = { requests: { cpu: '2', 'nvidia.com/gpu': '1' }, limits: { 'nvidia.com/gpu': '1' } };
  const containers = [{ name: 'model-runner', image: 'vllm:1', resources }];
  const template = aTemplate(name, 'vllm:1', { containers } as Partial<Pod['spec']>);
  const labels = { ...template.metadata?.labels, [LABEL_MODEL_NAME]: 'qwen2-0--5b' };
  const annotations = flavors === undefined ? {} : { [ANNOTATION_FLAVORS]: flavors };
  return aDeployment(name, { replicas, template: { ...template, metadata: { labels, annotations } } });
}

const T4G = ['g5g.xlarge', 'g5g.2xlarge', 'g5g.4xlarge', 'g5g.8xlarge', 'g5g.16xlarge'];

describe('pods that serve a model', () => {
  it('run on its first flavor, fall through when that is sold out, and return without moving anybody', async () => {
    const { clock, client, families, soldOut, end } = await setUp();
    await client.create(DEPLOYMENTS, service('first', 2));
    await clock.advance(3 * MINUTE);
    expect(await families('first')).toEqual(['g5g', 'g5g']);

    await soldOut(T4G);
    await client.create(DEPLOYMENTS, service('second', 2));
    await clock.advance(3 * MINUTE);
    expect(await families('second')).toEqual(['g4dn', 'g4dn']);

    await soldOut([]);
    // Longer than an offering that had no capacity is left alone.
    await clock.advance(10 * MINUTE);
    await client.create(DEPLOYMENTS, service('third', 1));
    await clock.advance(3 * MINUTE);
    expect(await families('third')).toEqual(['g5g']);
    expect(await families('second')).toEqual(['g4dn', 'g4dn']);
    expect((await client.list(NODE_CLAIMS)).items).toHaveLength(5);
    await end();
  });

  it('get no machine for a flavor that is none, hear which there are, and hold up nobody', async () => {
    const { clock, client, families, end } = await setUp();
    await client.create(DEPLOYMENTS, service('wrong', 1, 'h100'));
    await client.create(DEPLOYMENTS, service('right', 1, 't4'));
    await clock.advance(3 * MINUTE);
    expect(await families('wrong')).toEqual([]);
    expect(await families('right')).toEqual(['g4dn']);
    const events = (await client.list(EVENTS)).items;
    expect(events.map(({ message }) => message).join('\n')).toContain('its flavors are t4g, t4');
    await end();
  });

  it('are replaced in the order of their flavors when spot machines are lost, one after another, for less than on demand', async () => {
    const { clock, client, families, soldOut, end } = await setUp();
    await client.create(DEPLOYMENTS, service('chat', 4));
    const selector = { matchLabels: { app: 'chat' } };
    await client.create(POD_DISRUPTION_BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'chat', namespace: 'default' },
      spec: { selector, maxUnavailable: 1 },
    });
    await clock.advance(3 * MINUTE);
    expect(await families('chat')).toEqual(['g5g', 'g5g', 'g5g', 'g5g']);

    // Two of the four machines are taken back within two minutes, and no more of their kind are sold.
    await soldOut(T4G);
    const lost = (await client.list(NODES)).items.slice(0, 2).map(({ metadata }) => metadata.name ?? '');
    for (const name of lost) {
      const body = { metadata: { annotations: { [ANNOTATION_INTERRUPT]: '120s' } } };
      await client.patch(NODES, { name }, { type: 'merge', body });
    }
    let fewest = 4;
    for (let second = 0; second < 300; second++) {
      await clock.advance(1000);
      const ready = (await client.list(PODS)).items.filter(({ status }) =>
        status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
      );
      fewest = Math.min(fewest, ready.length);
    }
    expect(fewest).toBeGreaterThanOrEqual(3);
    expect(await families('chat')).toEqual(['g4dn', 'g4dn', 'g5g', 'g5g']);

    const claims = (await client.list(NODE_CLAIMS)).items;
    expect(claims).toHaveLength(4);
    const types = new Map(machineTypes().map((machine) => [machine.name, machine]));
    const machines = claims.map(
      ({ metadata }) => types.get(metadata.labels?.[LABEL_INSTANCE_TYPE] ?? '') as MachineType,
    );
    const spot = machines.reduce((sum, machine) => sum + spotPrice(machine, 'sim-1a'), 0);
    const onDemand = machines.reduce((sum, { usdPerHour }) => sum + usdPerHour, 0);
    expect(spot / onDemand).toBeLessThan(0.6);
    await end();
  });

  it('get spot machines for a group on several hosts only with a warning', async () => {
    const { clock, client, end } = await setUp();
    const made = service('group', 1);
    const { template } = made.spec;
    const annotations = { ...template.metadata?.annotations, 'leaderworkerset.sigs.k8s.io/size': '2' };
    const metadata = { ...template.metadata, annotations };
    await client.create(DEPLOYMENTS, { ...made, spec: { ...made.spec, template: { ...template, metadata } } });
    await clock.advance(3 * MINUTE);
    const warnings = (await client.list(EVENTS)).items.filter(({ reason }) => reason === 'GroupOnSpot');
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('one of a group of 2')]);
    await end();
  });

  it('mean nothing special where llmaz is not installed, until it is', async () => {
    const { clock, client, families, end } = await setUp({ llmaz: false });
    await client.create(DEPLOYMENTS, service('plain', 1, 'whatever'));
    await clock.advance(3 * MINUTE);
    expect(await families('plain')).toHaveLength(1);
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, OPEN_MODEL_DEFINITION);
    await client.create(OPEN_MODELS, aModel('qwen2-0--5b', ['t4']));
    await clock.advance(2 * MINUTE);
    await client.create(DEPLOYMENTS, service('flavored', 1));
    await clock.advance(3 * MINUTE);
    expect(await families('flavored')).toEqual(['g4dn']);
    await end();
  });
});
