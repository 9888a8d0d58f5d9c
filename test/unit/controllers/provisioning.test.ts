/** Provisioning from end to end in virtual time: pending pods in, claims out, on the embedded cluster and a simulated cloud. */
import { describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../../../src/apis/custom-resource-definitions.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePool } from '../../../src/apis/karpenter/node-pool.ts';
import { EVENTS } from '../../../src/apis/kubernetes/event.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { type KubeObject, resource } from '../../../src/apis/kubernetes/object.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { SIMULATED_NODE_CLASSES } from '../../../src/apis/spindrift/simulated-node-class.ts';
import { SimulatedCloud } from '../../../src/cloud/simulated/simulated-cloud.ts';
import { SimulatedDriver } from '../../../src/cloud/simulated/simulated-driver.ts';
import { anAccount } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { openedClouds } from '../../../src/cloud/testkit/opened-clouds.ts';
import { OwnWrites } from '../../../src/controllers/own-writes.ts';
import { DecisionLog } from '../../../src/controllers/provisioning/decision-log.ts';
import { Provisioner } from '../../../src/controllers/provisioning/provisioner.ts';
import { RiskKeeper } from '../../../src/controllers/spot-policy/risk-keeper.ts';
import { SpotPlanning } from '../../../src/controllers/spot-policy/spot-planning.ts';
import { SpotPolicies } from '../../../src/controllers/spot-policy/spot-policies.ts';
import { EmbeddedCluster } from '../../../src/embedded/cluster.ts';
import { aPod } from '../../../src/embedded/testkit/objects.ts';
import { EventRecorder } from '../../../src/kube/event-recorder.ts';
import { Metrics } from '../../../src/platform/metrics.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';
import { ClusterInformers } from '../../../src/state/cluster-informers.ts';
import { ClusterState } from '../../../src/state/cluster-state.ts';
import { ComingNodes } from '../../../src/state/coming-nodes.ts';
import { DisruptionBudgets } from '../../../src/state/drain/disruption-budgets.ts';
import { Headroom } from '../../../src/state/headroom.ts';
import { Nominations } from '../../../src/state/nominations.ts';
import { readOfferings } from '../../../src/state/planned-offerings.ts';
import { Successors } from '../../../src/state/successors.ts';

const CRDS = resource<KubeObject>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  'cluster',
);

function pool(name: string, spec: Partial<NodePool['spec']['template']['spec']> = {}, limits?: object): NodePool {
  const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name },
    spec: { template: { spec: { requirements: [], nodeClassRef, ...spec } }, ...(limits && { limits }) },
  } as unknown as NodePool;
}

async function setUp(...pools: NodePool[]) {
  const clock = new VirtualClock();
  const random = seededRandom('provisioning');
  const cluster = new EmbeddedCluster({ clock, random });
  const { client } = cluster;
  const stop = new AbortController();
  const cloud = new SimulatedCloud({ clock, random });
  cloud.configure('default', anAccount());
  const clouds = await openedClouds({ cloud: new SimulatedDriver({ clock, cloud, cluster: 'test' }), clock });
  for (const definition of DEFINITIONS) await client.create(CRDS, definition as unknown as KubeObject);
  for (const each of pools) {
    await client.create(NODE_POOLS, each);
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' },
    ];
    const key = { name: each.metadata.name! };
    await client.patch(NODE_POOLS, key, { type: 'merge', body: { status: { conditions } } }, { subresource: 'status' });
  }
  const informers = new ClusterInformers({ client, clock, random, nodeClasses: [SIMULATED_NODE_CLASSES] });
  const decisions = new DecisionLog();
  const recorder = new EventRecorder({ client, clock, random, component: 'karpenter' });
  const state = new ClusterState(informers);
  const nominations = new Nominations({ clock, pods: informers.pods, waitingPods: { quietMs: 0 } });
  const risk = new RiskKeeper({ clock, metrics: new Metrics() });
  const spot = new SpotPlanning({ policies: new SpotPolicies(informers), risk });
  const successors = new Successors(clock, () => true);
  const coming = new ComingNodes();
  const budgets = new DisruptionBudgets(informers.disruptionBudgets);
  const headroom = new Headroom(informers.capacityBuffers);
  const remembered = { budgets, coming, decisions, headroom, nominations, successors, spot };
  const writes = new OwnWrites(client, informers);
  const shared = { client, clock, state, clouds, recorder, writes, ...remembered };
  const metrics = new Metrics();
  const provisioner = new Provisioner({ ...shared, metrics, solveSteps: 200_000 });
  const running = Promise.all([cluster.run(stop.signal), informers.run(stop.signal), provisioner.run(stop.signal)]);
  await clock.advance(100);
  const claims = async () => (await client.list(NODE_CLAIMS)).items;
  const end = async () => {
    stop.abort(new Error('the end'));
    await clock.run(running);
  };
  return { clock, client, cloud, decisions, metrics, nominations, provisioner, state, claims, end };
}

describe('provisioning', () => {
  it('writes a claim for the cheapest node that holds the pods, a second after the last of them came', async () => {
    const { clock, client, claims, end } = await setUp(pool('default'));
    for (const name of ['a', 'b', 'c'])
      await client.create(PODS, aPod(name, { requests: { cpu: '1', memory: '1Gi' } }));
    await clock.advance(900);
    expect(await claims()).toEqual([]);
    await clock.advance(1000);
    const [claim, ...others] = await claims();
    expect(others).toEqual([]);
    expect(claim).toMatchObject({
      metadata: {
        generateName: 'default-',
        labels: { 'karpenter.sh/nodepool': 'default', 'spindrift.dev/simulatednodeclass': 'default' },
      },
      spec: { resources: { requests: { cpu: '3', memory: '3Gi' } } },
    });
    const offerings = readOfferings(claim!.metadata.annotations?.['spindrift.dev/offerings']);
    expect(offerings[0]).toMatchObject({ instanceType: 'medium', zone: 'zone-a', capacityType: 'spot' });
    expect(offerings.length).toBeGreaterThan(3);
    await end();
  });

  it('does not write a second claim for pods that the first one is made for', async () => {
    const { clock, client, claims, end } = await setUp(pool('default'));
    await client.create(PODS, aPod('a', { requests: { cpu: '1' } }));
    await clock.advance(3000);
    await client.create(PODS, aPod('b', { requests: { cpu: '500m' } }));
    await clock.advance(3000);
    expect(await claims()).toHaveLength(1);
    await end();
  });

  it('plans again for a pod whose place was given to another, though nobody speaks of it any more', async () => {
    const { clock, client, claims, nominations, end } = await setUp(pool('default'));
    await client.create(PODS, aPod('a', { requests: { cpu: '1500m' } }));
    await clock.advance(3000);
    const [claim] = await claims();
    const { name = '' } = claim!.metadata;
    const providerID = `simulated:///region/zone-a/${name}`;
    const status = { providerID };
    await client.patch(NODE_CLAIMS, { name }, { type: 'merge', body: { status } }, { subresource: 'status' });
    const metadata = { name, labels: { 'karpenter.sh/initialized': 'true' } };
    const full = { spec: { providerID }, status: { allocatable: { cpu: '1', memory: '4Gi', pods: '10' } } };
    await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata, ...full });
    nominations.opened(claim!);
    await clock.advance(8000);
    expect(await claims()).toHaveLength(1);
    await clock.advance(4000);
    expect(await claims()).toHaveLength(2);
    await end();
  });

  it('says on the pod what it is to run on, and why where there is nothing', async () => {
    const { clock, client, claims, end } = await setUp(pool('default'));
    await client.create(PODS, aPod('fits', { requests: { cpu: '1' } }));
    await client.create(PODS, aPod('huge', { requests: { cpu: '64' } }));
    await clock.advance(3000);
    const [claim] = await claims();
    const { items } = await client.list(EVENTS);
    const of = (name: string, reason: string) =>
      items.find(
        (event) =>
          event.involvedObject.name === name && event.reason === reason && event.source?.component === 'karpenter',
      );
    expect(of('fits', 'Nominated')?.message).toBe(`Pod should schedule on: nodeclaim/${claim!.metadata.name}`);
    expect(of('huge', 'FailedScheduling')?.message).toContain('cpu');
    await end();
  });

  it('counts the pods without a possible node, and none once they are gone', async () => {
    const { clock, client, metrics, end } = await setUp(pool('default'));
    const counted = () => metrics.read('karpenter_scheduler_unschedulable_pods_count', { controller: 'provisioner' });
    await client.create(PODS, aPod('large', { requests: { cpu: '5000' } }));
    await clock.advance(2000);
    expect(await counted()).toBe(1);
    await client.delete(PODS, { namespace: 'default', name: 'large' });
    await clock.advance(2000);
    expect(await counted()).toBe(0);
    await end();
  });

  it('counts a pod that it cannot plan for, and not once the pod is being deleted', async () => {
    const { clock, client, metrics, end } = await setUp(pool('default'));
    const counted = () => metrics.read('karpenter_scheduler_ignored_pods_count', {});
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'missing' } }];
    const { metadata, ...pod } = aPod('stateful', { spec: { volumes } });
    await client.create(PODS, { ...pod, metadata: { ...metadata, finalizers: ['example.com/slow'] } });
    await clock.advance(2000);
    expect(await counted()).toBe(1);
    await client.delete(PODS, { namespace: 'default', name: 'stateful' });
    await clock.advance(2000);
    expect(await counted()).toBe(0);
    await end();
  });

  it('says on a pool that its requirements leave nothing to launch', async () => {
    const requirements = [{ key: 'node.kubernetes.io/instance-type', operator: 'In' as const, values: ['meduim'] }];
    const { clock, client, end } = await setUp(pool('default', { requirements }));
    await client.create(PODS, aPod('a', { requests: { cpu: '1' } }));
    await clock.advance(3000);
    const events = (await client.list(EVENTS)).items.filter(({ involvedObject }) => involvedObject.kind === 'NodePool');
    expect(events.map(({ reason, message }) => [reason, message])).toEqual([
      [
        'NoCompatibleInstanceTypes',
        'nothing that its node class sells has node.kubernetes.io/instance-type In meduim, did you mean medium?',
      ],
    ]);
    await end();
  });

  it('uses no pool that is not ready', async () => {
    const { clock, client, claims, end } = await setUp(pool('default'));
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'No', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' },
    ];
    await client.patch(
      NODE_POOLS,
      { name: 'default' },
      { type: 'merge', body: { status: { conditions } } },
      { subresource: 'status' },
    );
    await client.create(PODS, aPod('a', { requests: { cpu: '1' } }));
    await clock.advance(3000);
    expect(await claims()).toEqual([]);
    await end();
  });

  it('keeps to the limits of a pool over what is on its way already', async () => {
    const { clock, client, claims, end } = await setUp(pool('default', {}, { cpu: '4' }));
    for (let index = 0; index < 6; index++) {
      await client.create(PODS, aPod(`p${index}`, { requests: { cpu: '1500m' } }));
      await clock.advance(2000);
    }
    const types = (await claims()).map(
      (claim) => readOfferings(claim.metadata.annotations?.['spindrift.dev/offerings'])[0]!.instanceType,
    );
    const cores = { small: 2, medium: 4, large: 8 } as Record<string, number>;
    expect(types.reduce((sum, type) => sum + cores[type]!, 0)).toBeLessThanOrEqual(4);
    await end();
  });

  it('names machines as their cloud does where two node classes sell the same at other prices', async () => {
    const other = pool('other');
    const spec = {
      ...other.spec.template.spec,
      nodeClassRef: { ...other.spec.template.spec.nodeClassRef, name: 'other' },
    };
    const { clock, client, claims, cloud, end } = await setUp(pool('default'), pool('other', spec));
    const cheaper = anAccount().catalogue.map((type) => ({
      ...type,
      offerings: type.offerings.map((offering) => ({ ...offering, price: offering.price / 2 })),
    }));
    cloud.configure('other', anAccount({ catalogue: cheaper }));
    await client.create(PODS, aPod('a', { requests: { cpu: '1' } }));
    await clock.advance(3000);
    const [claim] = await claims();
    expect(claim?.metadata.labels?.['karpenter.sh/nodepool']).toBe('other');
    const types = claim?.spec.requirements.find(({ key }) => key === 'node.kubernetes.io/instance-type')?.values;
    expect(types?.every((type) => ['small', 'medium', 'large'].includes(type))).toBe(true);
    await end();
  });

  it('keeps what a decision was made from', async () => {
    const { clock, client, decisions, end } = await setUp(pool('default'));
    await client.create(PODS, aPod('a', { requests: { cpu: '1' } }));
    await clock.advance(3000);
    const [decision] = decisions.list();
    expect(decision?.solution.price).toBeGreaterThan(0);
    expect(decision?.built.pods.map((pod) => pod.metadata.name)).toEqual(['a']);
    expect(decision?.claims[0]?.metadata.name).toMatch(/^default-/);
    await end();
  });
});
