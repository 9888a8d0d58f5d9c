/** Machines in a management cluster, Nodes and pods in a workload cluster: two API servers over HTTPS, and one spindrift between them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTER_API_NODE_CLASSES } from '../../src/apis/cluster-api/cluster-api-node-class.ts';
import { coreKinds } from '../../src/apis/cluster-api/core-kinds.ts';
import type { CoreMachine } from '../../src/apis/cluster-api/machine.ts';
import { INFRASTRUCTURE_GROUP, LABEL_CLUSTER_NAME, LABEL_INTERRUPTIBLE } from '../../src/apis/cluster-api/names.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import type { KubeObject, Resource } from '../../src/apis/kubernetes/object.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/apis/schema/custom-resource-definition.ts';
import { interruptionCondition } from '../../src/apis/spindrift/interruption-condition.ts';
import { DEFAULT_NODE_POOL } from '../../src/app/default-pool.ts';
import { installDefinitions } from '../../src/app/install-definitions.ts';
import { run } from '../../src/app/run.ts';
import { RUN } from '../../src/cli/run.ts';
import { MinimalCore } from '../../src/cloud/cluster-api/core/minimal-core.ts';
import {
  infrastructureKind,
  infrastructureVersion,
  openDefinitions,
} from '../../src/cloud/cluster-api/core/open-definitions.ts';
import type { InfrastructureObject } from '../../src/cloud/cluster-api/infrastructure-objects.ts';
import { CLUSTER_API } from '../../src/cloud/cluster-api/module.ts';
import { StandInProvider } from '../../src/cloud/cluster-api/testkit/stand-in-provider.ts';
import { type RunningCluster, startEmbeddedCluster } from '../../src/embedded/embedded-cluster-server.ts';
import { aDeployment, aTemplate } from '../../src/embedded/testkit/workloads.ts';
import type { EpochMs } from '../../src/platform/clock.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { untilSo } from '../kubernetes/harness/until-so.ts';

const KINDS = coreKinds('v1beta2');
const clock = new RealClock();
const CLUSTER = 'fleet';

describe('two clusters', { timeout: 120_000 }, () => {
  const stop = new AbortController();
  const { signal } = stop;
  const running: Promise<unknown>[] = [];
  let folder: string;
  let management: RunningCluster;
  let workload: RunningCluster;
  const until = (missing: () => Promise<string | undefined>): Promise<void> =>
    untilSo({ clock, withinMs: 60_000, missing });
  const machines = async (): Promise<readonly CoreMachine[]> =>
    (await management.cluster.client.list(KINDS.machines)).items;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spindrift-two-'));
    const start = (name: string): Promise<RunningCluster> =>
      startEmbeddedCluster({
        ...{ clock, random: seededRandom(name), port: 0, nodes: [] },
        kubeconfigPath: join(folder, name),
      });
    [management, workload] = await Promise.all([start('management'), start('workload')]);
    const { client: there } = management.cluster;
    const { client: here } = workload.cluster;
    for (const definition of openDefinitions(KINDS)) await there.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    const random = seededRandom('two');
    const core = new MinimalCore({
      ...{ client: there, workload: here, kinds: KINDS },
      clock,
      random,
      infrastructureVersion,
    });
    const provider = new StandInProvider({
      ...{ client: there, workload: here, clock, random, startMs: [200, 800] },
      kind: infrastructureKind('AWSMachine') as Resource<InfrastructureObject>,
      providerID: ({ metadata }) => `aws:///us-east-1a/i-${metadata.uid?.slice(0, 8)}`,
      node: ({ metadata }) => ({
        metadata: {
          name: metadata.name,
          annotations: { 'spindrift.dev/simulated': 'true' },
          labels: {
            'kubernetes.io/hostname': metadata.name,
            'kubernetes.io/os': 'linux',
            'kubernetes.io/arch': 'amd64',
          },
        },
        status: { capacity: { cpu: '4', memory: '15Gi', pods: '110' } },
      }),
    });
    running.push(core.run(signal), provider.run(signal));
    for (const name of ['spot-a', 'spot-b']) await makeDeployment(name);
    await installDefinitions(here, [await CLUSTER_API.load({ clusterApiUnclaimedGrace: 300_000 })], signal);
    await here.create(CLUSTER_API_NODE_CLASSES, {
      apiVersion: 'karpenter.cluster.x-k8s.io/v1alpha1',
      kind: 'ClusterAPINodeClass',
      metadata: { name: CLUSTER },
      spec: { scalableResourceSelector: { matchLabels: { [LABEL_CLUSTER_NAME]: CLUSTER } } },
    });
    const { spec } = DEFAULT_NODE_POOL;
    const nodeClassRef = { group: CLUSTER_API_NODE_CLASSES.group, kind: 'ClusterAPINodeClass', name: CLUSTER };
    await here.create(NODE_POOLS, {
      ...DEFAULT_NODE_POOL,
      spec: {
        ...spec,
        template: { ...spec.template, spec: { ...spec.template.spec, nodeClassRef, requirements: [] } },
      },
    });
    const defaults = Object.fromEntries(Object.entries(RUN.options).map(([name, { fallback }]) => [name, fallback]));
    const values = { ...defaults, clusterApiKubeconfig: management.kubeconfigPath, clusterApiCluster: CLUSTER };
    running.push(
      run({
        ...(defaults as unknown as Parameters<typeof run>[0]),
        ...{ kubeconfig: workload.kubeconfigPath, clouds: ['cluster-api'], cloudOptions: values },
        ...{ metricsPort: 0, healthProbePort: 0, disableLeaderElection: true, log: () => {}, signal },
      }),
    );
  });

  afterAll(async () => {
    stop.abort();
    await Promise.allSettled(running);
    await Promise.allSettled([management.stop(), workload.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  async function makeDeployment(name: string): Promise<void> {
    const { client } = management.cluster;
    const metadata = { name, namespace: 'default', labels: { [LABEL_CLUSTER_NAME]: CLUSTER } };
    const templates = infrastructureKind('AWSMachineTemplate');
    const template = { template: { spec: { instanceType: 'm5.xlarge', spotMarketOptions: {} } } };
    const apiVersion = `${INFRASTRUCTURE_GROUP}/v1beta2`;
    await client.create(templates, { apiVersion, kind: templates.kind, metadata, ...{ spec: template } } as KubeObject);
    const infrastructureRef = { apiGroup: INFRASTRUCTURE_GROUP, kind: templates.kind, name };
    await client.create(KINDS.machineDeployments, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata,
      spec: {
        ...{ clusterName: CLUSTER, replicas: 0 },
        template: {
          metadata: { labels: metadata.labels },
          spec: {
            ...{ clusterName: CLUSTER, failureDomain: `us-east-1${name.at(-1)}` },
            ...{ bootstrap: { dataSecretName: 'join' }, infrastructureRef },
          },
        },
      },
    });
  }

  it('16, 34: pods of the one become machines of the other, and Nodes with the label', async () => {
    const { client } = workload.cluster;
    const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '1500m' } } }];
    const template = aTemplate('web', 'app:1', { containers, terminationGracePeriodSeconds: 1 });
    await client.create(DEPLOYMENTS, aDeployment('web', { replicas: 4, template }));
    await until(async () => {
      const { items } = await client.list(PODS, { labelSelector: 'app=web' });
      const count = items.filter(({ status }) => status?.phase === 'Running').length;
      return count === 4 ? undefined : `${count} of 4 pods run`;
    });
    await until(async () => {
      const { items } = await client.list(NODES, { labelSelector: LABEL_INTERRUPTIBLE });
      return items.length === 2 ? undefined : `${items.length} of 2 nodes are labelled`;
    });
    expect(await machines()).toHaveLength(2);
    expect((await management.cluster.client.list(NODES)).items).toEqual([]);
  });

  it('17, 37: a Node that is told of its end is replaced first, and its Machine is deleted in the other cluster', async () => {
    const { client } = workload.cluster;
    const [going] = await machines();
    const name = going?.status?.nodeRef?.name ?? '';
    const now = clock.now();
    const stated = {
      kind: 'spot-interruption',
      at: now,
      deadline: (now + 120_000) as EpochMs,
      source: 'imds',
      detail: 'x',
    };
    const body = { status: { conditions: [interruptionCondition(stated as never, now)] } };
    await client.patch(NODES, { name }, { type: 'strategic', body }, { subresource: 'status' });
    let most = 0;
    await until(async () => {
      const present = await machines();
      most = Math.max(most, present.length);
      return present.some(({ metadata }) => metadata.uid === going?.metadata.uid) ? `${name} is there` : undefined;
    });
    expect(most).toBe(3);
    expect(await machines()).toHaveLength(2);
    await until(async () => {
      const { items } = await client.list(PODS, { labelSelector: 'app=web' });
      const count = items.filter(({ status }) => status?.phase === 'Running').length;
      return count === 4 ? undefined : `${count} of 4 pods run`;
    });
  });
});
