/**
 * The rights of the chart, judged by the API server's own record: the controller runs with the rendered arguments, environment
 * and service account, through everything that it does to a cluster. No request may be refused, and no right may be left over.
 * The rights of single clouds are judged where these clouds run: ibm.test.ts here, and the rings `aws-kubernetes` and `machines`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CAPACITY_BUFFERS } from '../../src/apis/autoscaling/capacity-buffer.ts';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { EVENTS } from '../../src/apis/kubernetes/event.ts';
import { LEASES } from '../../src/apis/kubernetes/lease.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { LEADER_WORKER_SETS } from '../../src/apis/leader-worker-set/leader-worker-set.ts';
import { OPEN_MODEL_DEFINITION } from '../../src/apis/llmaz/open-model.ts';
import { PLAYGROUNDS } from '../../src/apis/llmaz/playground.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/apis/schema/custom-resource-definition.ts';
import { ANNOTATION_HEADROOM } from '../../src/apis/spindrift/annotations.ts';
import { SIMULATED_NODE_CLASSES } from '../../src/apis/spindrift/simulated-node-class.ts';
import { Autoscaler } from '../../src/app/autoscaler.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import { loadClouds } from '../../src/app/load-clouds.ts';
import { interrupt } from '../../src/cli/sim/sim-command.ts';
import { openDefinition } from '../../src/cloud/cluster-api/core/open-definitions.ts';
import { deleteClaim } from '../../src/controllers/nodeclaim/delete-claim.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { EventRecorder } from '../../src/kube/event-recorder.ts';
import { FaultyClient } from '../../src/kube/testkit/faulty-client.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { Metrics } from '../../src/platform/metrics.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { ArmServer } from '../azure/arm-server.ts';
import { type InstalledChart, installChart } from '../chart/installed-chart.ts';
import { helm } from '../chart/rendered-chart.ts';
import { refusals, rightText, unusedRights } from '../chart/rights.ts';
import { ComputeServer } from '../gcp/compute-server.ts';
import { findHelm } from '../peers/helm.ts';
import type { ControlPlane } from './harness/control-plane.ts';
import { freePorts } from './harness/free-ports.ts';
import { ownControlPlane } from './harness/own-control-plane.ts';
import { notAllRun, untilSo } from './harness/until-so.ts';

interface Workload {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: [{ args: string[]; env: { name: string; value: string }[] }] };
    };
  };
}

const SPINDRIFT = join(import.meta.dirname, '..', '..', 'bin', 'spindrift.js');
const REPLICAS = 60;
const clock = new RealClock();

/** Rights that no request names: the API server asks for them when it looks at what another request would do. */
const ASKED_BY_THE_SERVER = [
  'update nodeclaims/finalizers (karpenter.sh)',
  'update nodepools/finalizers (karpenter.sh)',
  // Applying a definition that is not there yet.
  'create customresourcedefinitions (apiextensions.k8s.io)',
];

const A_DEFINITION = {
  ...OPEN_MODEL_DEFINITION,
  metadata: { name: 'things.example.com' },
  spec: {
    ...OPEN_MODEL_DEFINITION.spec,
    group: 'example.com',
    names: { kind: 'Thing', plural: 'things', singular: 'thing', listKind: 'ThingList' },
  },
};

const NODE_CLASSES = [
  {
    apiVersion: 'karpenter.k8s.gcp/v1alpha1',
    kind: 'GCENodeClass',
    metadata: { name: 'default' },
    spec: { imageSelectorTerms: [{ id: 'projects/p/global/images/node' }] },
  },
  {
    apiVersion: 'karpenter.azure.com/v1alpha1',
    kind: 'AzureNodeClass',
    metadata: { name: 'default' },
    spec: { imageID: '/i', vnetSubnetID: '/subscriptions/s/n', sshPublicKey: 'ssh-rsa A' },
  },
];

const OVERLAY = {
  apiVersion: 'karpenter.sh/v1alpha1',
  kind: 'NodeOverlay',
  metadata: { name: 'savings-plan' },
  spec: {
    requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] }],
    priceAdjustment: '-10%',
  },
};

/** Room for pods like those of a template, and of workloads; two of these are not there. */
const BUFFERS = [
  {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    metadata: { name: 'one-core', namespace: 'default' },
    template: { spec: { containers: [{ name: 'main', image: 'main:1', resources: { requests: { cpu: '1' } } }] } },
  },
  ...[
    { podTemplateRef: { name: 'one-core' } },
    ...['Deployment', 'StatefulSet', 'ReplicaSet'].map((kind) => ({
      scalableRef: { apiGroup: 'apps', kind, name: 'kept' },
    })),
  ].map((spec, index) => ({
    apiVersion: 'autoscaling.x-k8s.io/v1beta1',
    kind: 'CapacityBuffer',
    metadata: { name: `buffer-${index}`, namespace: 'default' },
    spec: { ...spec, replicas: 1 },
  })),
];

/** Services of which two replicas are to be ready, and one is asked for. */
const KEPT_SERVICES = [
  ['apps/v1', 'Deployment'],
  ['leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet'],
  ['inference.llmaz.io/v1alpha1', 'Playground'],
].map(([apiVersion, kind]) => {
  const labels = { app: 'kept' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'main:1' }] } };
  const metadata = { name: 'kept', namespace: 'default', annotations: { 'spindrift.dev/ready-replicas': '2' } };
  const leaderWorkerTemplate = { size: 1, workerTemplate: template };
  const own = kind === 'Deployment' ? { selector: { matchLabels: labels }, template } : { leaderWorkerTemplate };
  return { apiVersion, kind, metadata, spec: { replicas: 1, ...own } };
});

const SPOT_POLICY = {
  apiVersion: 'spindrift.dev/v1alpha1',
  kind: 'SpotPolicy',
  metadata: { name: 'careful' },
  spec: { onDemand: { base: 1 } },
};

describe.skipIf(findHelm() === undefined)('the rights of the chart', { timeout: 300_000 }, () => {
  let controlPlane: ControlPlane;
  let chart: InstalledChart;
  let client: KubeClient;
  let controller: ChildProcess | undefined;
  let metricsPort: number;
  const connections: Connection[] = [];
  const servers: { close(): Promise<void> }[] = [];

  const until = (missing: () => Promise<string | undefined>): Promise<void> =>
    untilSo({ clock, withinMs: 120_000, missing });
  const list = async (kind: Parameters<KubeClient['list']>[0]) => (await client.list(kind)).items;
  const podsRun = (app: string, replicas: number): Promise<void> =>
    until(async () => notAllRun((await client.list(PODS, { labelSelector: `app=${app}` })).items, replicas));

  const connected = async (kubeconfig: string): Promise<KubeClient> => {
    const made = await connect({ clock, kubeconfig });
    connections.push(made.connection);
    return made.client;
  };

  const deploy = async (app: string, replicas: number, minAvailable: number): Promise<void> => {
    const labels = { app };
    const containers = [{ name: 'main', image: 'main:1', resources: { requests: { cpu: '1', memory: '1Gi' } } }];
    await controlPlane.kubectl.apply(
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: app, namespace: 'default' },
        spec: { minAvailable, selector: { matchLabels: labels } },
      },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: app, namespace: 'default' },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 2, containers } },
        },
      },
    );
  };

  const endController = async (): Promise<void> => {
    controller?.kill('SIGTERM');
    if (controller?.exitCode === null && controller.signalCode === null) await once(controller, 'exit');
  };

  beforeAll(async () => {
    const { directory } = inject('controlPlane');
    const everything = { controllerManager: true, scheduler: true, kwok: true };
    // Claims block the deletion of their owners. This plugin, as OpenShift has it, asks whether whoever writes that may do so.
    const enforcing = ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'];
    controlPlane = ownControlPlane('chart-rights', everything, { arguments: enforcing });
    await controlPlane.start();
    client = await connected(controlPlane.kubeconfig);
    const compute = await new ComputeServer({ clock, operationMs: 100 }).listen();
    const arm = await new ArmServer({ clock, operationMs: 100 }).listen();
    servers.push(compute, arm);
    // Kinds of others, which are served where they are installed.
    for (const definition of [OPEN_MODEL_DEFINITION, ...[LEADER_WORKER_SETS, PLAYGROUNDS].map(openDefinition)])
      await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    chart = await installChart(
      controlPlane,
      'clouds={simulated,gcp,azure}',
      ...['gcp.project=p', 'gcp.region=us-central1'],
      ...['azure.subscription=s', 'azure.resourceGroup=nodes', 'azure.location=eastus'],
      ...['controller.env[0].name=GCP_COMPUTE_ENDPOINT', `controller.env[0].value=${compute.url}`],
      ...['controller.env[1].name=AZURE_RESOURCE_MANAGER_ENDPOINT', `controller.env[1].value=${arm.url}`],
      ...['settings.installDefinitions=true', 'settings.gpuNames=kube-public/gpus', 'settings.readyReplicas=true'],
      'controller.metrics.authentication=true',
    );
    const [container] = (chart.objects.find(({ kind }) => kind === 'Deployment') as unknown as Workload).spec.template
      .spec.containers;
    const environment = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
    // What there is one of on this machine is not that of the pod; test/image runs the pod as it is.
    ({ metricsPort } = await freePorts(['metricsPort']));
    const here = {
      ...{ NODE_COMPILE_CACHE: '', SPINDRIFT_HOST: '127.0.0.1', METRICS_HOST: '127.0.0.1' },
      ...{ METRICS_PORT: String(metricsPort), HEALTH_PROBE_PORT: '0' },
    };
    const log = openSync(join(directory, 'chart-rights.log'), 'a');
    controller = spawn(process.execPath, [SPINDRIFT, ...container.args], {
      stdio: ['ignore', log, log],
      env: { PATH: process.env.PATH ?? '', ...environment, ...here, KUBECONFIG: chart.kubeconfig },
    });
  }, 120_000);

  afterAll(async () => {
    controller?.kill('SIGKILL');
    for (const server of servers) await server.close();
    for (const connection of connections) await connection.close();
    await controlPlane?.stop();
  });

  it('come with words about what is served', () => {
    expect(chart.notes).toContain('Spindrift 0.1.0 serves simulated, gcp, azure for the cluster demo.');
  });

  it('are enough to install kinds, lead, launch and bind', async () => {
    await until(async () =>
      client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS).then(
        () => undefined,
        (error: unknown) => String(error),
      ),
    );
    await controlPlane.kubectl.apply(...NODE_CLASSES, SPOT_POLICY, OVERLAY, ...BUFFERS, ...KEPT_SERVICES);
    const { template } = DEFAULT_NODE_POOL.spec;
    // Pods that may not be evicted are deleted in the end.
    const hurried = { ...template, spec: { ...template.spec, terminationGracePeriod: '8s' } };
    await client.create(NODE_POOLS, { ...DEFAULT_NODE_POOL, spec: { ...DEFAULT_NODE_POOL.spec, template: hurried } });
    await deploy('web', REPLICAS, REPLICAS - 10);
    await deploy('stubborn', 2, 2);
    await podsRun('web', REPLICAS);
    await podsRun('stubborn', 2);
    // Services are given the replicas that they want, and buffers their room.
    await until(async () => {
      const services = ['deployment/kept', 'leaderworkerset/kept', 'playground/kept'];
      const { items } = await controlPlane.kubectl.get<{ items: { kind: string; spec: { replicas: number } }[] }>(
        ...services,
      );
      const poor = items.find(({ spec }) => spec.replicas < 2);
      return poor && `the ${poor.kind} has ${poor.spec.replicas} replicas`;
    });
    await until(async () => {
      const { items } = await client.list(CAPACITY_BUFFERS);
      const silent = items.find(({ status }) => status === undefined);
      if (silent !== undefined) return `nothing is said on the buffer ${silent.metadata.name}`;
      const isNoted = items.some(({ metadata }) => metadata.annotations?.[ANNOTATION_HEADROOM] !== undefined);
      return isNoted ? undefined : 'no buffer says where its room is';
    });
    for (const kind of ['capacitybuffers', 'leaderworkersets', 'playgrounds'])
      await controlPlane.kubectl.run(['delete', kind, '--all', '--namespace=default']);
    await client.delete(DEPLOYMENTS, { namespace: 'default', name: 'kept' });
    expect(
      (await client.get(LEASES, { namespace: 'autoscaling', name: 'karpenter-leader-election' })).spec,
    ).toBeDefined();
  });

  it('are enough to check the tokens of readers of metrics', async () => {
    const metadata = { name: 'reader', namespace: 'autoscaling' };
    await controlPlane.kubectl.apply(
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'reader' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'spindrift-metrics-reader' },
        subjects: [{ kind: 'ServiceAccount', ...metadata }],
      },
    );
    const answerTo = async (account?: string): Promise<number> => {
      const token =
        account && (await controlPlane.kubectl.run(['create', 'token', account, '--namespace=autoscaling']));
      const headers = token === undefined ? {} : { authorization: `Bearer ${token.trim()}` };
      return (await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { headers })).status;
    };
    expect(await answerTo()).toBe(401);
    expect(await answerTo('spindrift')).toBe(403);
    await until(async () => {
      const status = await answerTo('reader');
      return status === 200 ? undefined : `the reader is answered ${status}`;
    });
  });

  it('are enough to replace a machine that is taken back', async () => {
    await until(async () =>
      (await client.list(NODE_CLAIMS)).items.every(({ status }) => status?.nodeName)
        ? undefined
        : 'a claim has no node',
    );
    const [claim] = (await client.list(NODE_CLAIMS)).items;
    await interrupt(client, [claim?.status?.nodeName ?? ''], 30_000);
    await until(async () =>
      (await list(NODE_CLAIMS)).some(({ metadata }) => metadata.uid === claim?.metadata.uid)
        ? 'it is there'
        : undefined,
    );
    await podsRun('web', REPLICAS);
  });

  it('are enough to empty and take away everything, pods too that no budget lets go', async () => {
    // Nothing may take the place of what goes.
    await client.delete(NODE_POOLS, { name: 'default' });
    for (const { metadata } of await list(NODE_CLAIMS))
      await client.delete(NODE_CLAIMS, { name: metadata.name ?? '' }).catch(() => {});
    await until(async () => {
      const [claims, nodes] = [(await list(NODE_CLAIMS)).length, (await list(NODES)).length];
      return claims + nodes === 0 ? undefined : `${claims} claims and ${nodes} nodes are left`;
    });
    const reasons = new Set((await client.list(EVENTS)).items.map(({ reason }) => reason));
    expect(reasons).toContain('Evicted');
    await endController();
  });

  it('are enough on a bad day: answers are lost, and what was read has changed', async () => {
    for (const app of ['web', 'stubborn']) await client.delete(DEPLOYMENTS, { namespace: 'default', name: app });
    await client.create(NODE_POOLS, DEFAULT_NODE_POOL);
    const own = await connected(chart.kubeconfig);
    const lost = new Set<string>();
    const unreliable = new FaultyClient({
      ...{ client: own, clock },
      // Longer than until it is tried again: what the cache shows is old then.
      lagMs: 3000,
      fault: (verb, _, name) => {
        if (verb !== 'bind' || lost.has(name)) return undefined;
        lost.add(name);
        return { kind: 'unanswered' };
      },
    });
    const autoscaler = new Autoscaler({
      ...{ client: unreliable, clock, random: seededRandom('bad-day'), logger: SILENT_LOGGER, metrics: new Metrics() },
      ...{ cluster: 'demo', batchIdleMs: 500, batchMaxMs: 2000, clouds: await loadClouds(['simulated'], {}) },
    });
    const stop = new AbortController();
    const running = Promise.allSettled([autoscaler.watch(stop.signal), autoscaler.act(stop.signal)]);
    await deploy('late', 5, 0);
    await podsRun('late', 5);
    stop.abort();
    await running;
    await writeDeletionCosts(own);
    expect(lost.size).toBeGreaterThan(0);
    const [claim] = (await client.list(NODE_CLAIMS)).items;
    await deleteClaim(
      own,
      { ...claim!, metadata: { ...claim!.metadata, uid: 'of-another' } },
      new AbortController().signal,
    );
    const recorder = new EventRecorder({ client: own, clock, random: seededRandom('events'), component: 'karpenter' });
    for (const _ of ['once', 'again'])
      recorder.record({ object: claim!, type: 'Normal', reason: 'Repeated', message: 'the same', quietMs: 0 });
    await recorder.flush();
  });

  it('are all used, and not one was missing', async () => {
    const uses = chart.uses();
    expect(uses.length).toBeGreaterThan(100);
    expect(refusals(uses)).toEqual([]);
    expect(unusedRights(chart.rights, uses).filter((right) => !ASKED_BY_THE_SERVER.includes(right))).toEqual([]);
  });

  it.each(ASKED_BY_THE_SERVER)('are all needed: %s is asked for by the API server itself', async (right) => {
    // An account with every right of the chart but this one.
    const without = chart.rights.filter((each) => rightText(each) !== right);
    const rules = without.map(({ group, resource, verb, names }) => ({
      ...{ apiGroups: [group], resources: [resource], verbs: [verb] },
      ...(names.length > 0 && { resourceNames: names }),
    }));
    const name = `without-${ASKED_BY_THE_SERVER.indexOf(right)}`;
    const metadata = { name, namespace: 'autoscaling' };
    await controlPlane.kubectl.apply(
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ kind: 'ServiceAccount', ...metadata }],
      },
    );
    const as = [`--as=system:serviceaccount:autoscaling:${name}`, '--dry-run=server', '--filename=-'];
    const tried = right.includes('customresourcedefinitions')
      ? controlPlane.kubectl.run(['apply', '--server-side', ...as], JSON.stringify(A_DEFINITION))
      : controlPlane.kubectl.run(['create', ...as], JSON.stringify(await ownedObject(right)));
    await expect(tried).rejects.toThrow(/forbidden/i);
  });

  it('go with the chart, and the kinds and workloads stay', async () => {
    const { kubeconfig, kubectl } = controlPlane;
    const { code } = helm('uninstall', 'spindrift', '--namespace', 'autoscaling', '--kubeconfig', kubeconfig);
    expect(code).toBe(0);
    expect(await kubectl.run(['get', 'clusterroles,clusterrolebindings', '--output=name'])).not.toContain('spindrift');
    expect(await list(SIMULATED_NODE_CLASSES)).toHaveLength(1);
    expect((await client.get(DEPLOYMENTS, { namespace: 'default', name: 'late' })).spec.replicas).toBe(5);
  });

  /** Runs the part that writes on pods in which order they may go. */
  async function writeDeletionCosts(own: KubeClient): Promise<void> {
    const stop = new AbortController();
    const autoscaler = new Autoscaler({
      ...{ client: own, clock, random: seededRandom('costs'), logger: SILENT_LOGGER, metrics: new Metrics() },
      ...{ cluster: 'demo', batchIdleMs: 500, batchMaxMs: 2000, clouds: await loadClouds(['simulated'], {}) },
      podDeletionCost: true,
    });
    const running = Promise.allSettled([autoscaler.watch(stop.signal), autoscaler.act(stop.signal)]);
    const cost = 'controller.kubernetes.io/pod-deletion-cost';
    await until(async () =>
      (await client.list(PODS)).items.some(({ metadata }) => metadata.annotations?.[cost] !== undefined)
        ? undefined
        : 'no pod has a deletion cost',
    );
    stop.abort();
    await running;
  }

  /** An object whose owner is of the kind that the right is about. */
  async function ownedObject(right: string): Promise<object> {
    const isPool = right.includes('nodepools');
    const [owner] = isPool ? (await client.list(NODE_POOLS)).items : (await client.list(NODE_CLAIMS)).items;
    const { name, uid } = owner!.metadata;
    const kind = isPool ? 'NodePool' : 'NodeClaim';
    const ownerReferences = [{ apiVersion: 'karpenter.sh/v1', kind, name, uid, blockOwnerDeletion: true }];
    return isPool
      ? {
          ...{ apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata: { name: 'owned', ownerReferences } },
          spec: (await client.list(NODE_CLAIMS)).items[0]!.spec,
        }
      : { apiVersion: 'v1', kind: 'Node', metadata: { name: 'owned', ownerReferences } };
  }
});
