/** The whole autoscaler on the embedded cluster and the local IBM Cloud, on a virtual clock. It can be killed and restarted. */
import { IBM_NODE_CLASSES } from '../../../src/apis/ibm/ibm-node-class.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { Autoscaler } from '../../../src/app/autoscaler.ts';
import { installDefinitions } from '../../../src/app/install-definitions.ts';
import type { LoadedCloud } from '../../../src/cloud/cloud-module.ts';
import { IBM_CLOUD } from '../../../src/cloud/ibm/ibm-module.ts';
import { openIbmCloud } from '../../../src/cloud/ibm/open-ibm-cloud.ts';
import { ANNOTATION_SIMULATED } from '../../../src/cloud/simulated/labels.ts';
import { EmbeddedCluster } from '../../../src/embedded/cluster.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { SILENT_LOGGER } from '../../../src/platform/logger.ts';
import { Metrics } from '../../../src/platform/metrics.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';
import { IbmServer } from '../server/ibm-server.ts';
import { bootMachines } from './booting-machines.ts';
import { classSpec, localOptions, prepareCluster } from './local-ibm.ts';
import { type WirelessOptions, wireless } from './wireless.ts';

export interface IbmCluster {
  readonly clock: VirtualClock;
  readonly client: KubeClient;
  readonly server: IbmServer;
  runningPods(): Promise<number>;
  /** Kills the autoscaler at any point, and starts a new one without memory. */
  restart(): Promise<void>;
  end(): Promise<void>;
}

/** A cluster with one pool for these capacity types. */
export async function ibmCluster(
  capacityTypes: readonly string[],
  wire: WirelessOptions = {},
  seed = 'end-to-end',
): Promise<IbmCluster> {
  const clock = new VirtualClock();
  const random = seededRandom(seed);
  const cluster = new EmbeddedCluster({ clock, random });
  const server = new IbmServer({ clock, random: random.split('ibm') });
  const { client } = cluster;
  const stop = new AbortController();
  const running: Promise<unknown>[] = [cluster.run(stop.signal)];
  const loaded = await IBM_CLOUD.load(localOptions() as unknown as Record<string, unknown>);
  const ibm: LoadedCloud = { ...loaded, open: (world) => openIbmCloud(world, localOptions(), wireless(server, wire)) };
  await clock.run(installDefinitions(client, [ibm], stop.signal));
  await prepareCluster(client);
  const named = { apiVersion: 'karpenter-ibm.sh/v1alpha1', kind: 'IBMNodeClass', metadata: { name: 'default' } };
  await client.create(IBM_NODE_CLASSES, { ...named, spec: classSpec(server) });
  const nodeClassRef = { group: 'karpenter-ibm.sh', kind: 'IBMNodeClass', name: 'default' };
  const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: capacityTypes }];
  await client.create(NODE_POOLS, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'pool' },
    spec: {
      template: { spec: { nodeClassRef, requirements } },
      disruption: { consolidateAfter: 'Never', consolidationPolicy: 'WhenEmpty' },
    },
  } as never);
  let term = new AbortController();
  let work: Promise<unknown> = Promise.resolve();
  const start = (): void => {
    term = new AbortController();
    const autoscaler = new Autoscaler({
      ...{ client, clock, random, logger: SILENT_LOGGER, metrics: new Metrics(), cluster: 'test' },
      ...{ batchIdleMs: 1000, batchMaxMs: 10_000, solveSteps: 200_000 },
      clouds: [ibm],
    });
    work = Promise.allSettled([autoscaler.watch(term.signal), autoscaler.act(term.signal)]);
  };
  const kill = async (): Promise<void> => {
    term.abort(new Error('killed'));
    await clock.run(work, 'the end of the autoscaler');
  };
  const annotations = { [ANNOTATION_SIMULATED]: 'true' };
  const powerOff = (node: string): void => cluster.kubelets.kill(node);
  running.push(bootMachines({ world: server.world, client, clock, annotations, powerOff }, stop.signal));
  start();
  await clock.advance(10_000);
  return {
    clock,
    client,
    server,
    runningPods: async () => (await client.list(PODS)).items.filter(({ status }) => status?.phase === 'Running').length,
    restart: async () => {
      await kill();
      start();
    },
    end: async () => {
      await kill();
      stop.abort(new Error('the end'));
      await clock.run(Promise.allSettled(running), 'the end of the world');
    },
  };
}
