/** The whole autoscaler on the embedded cluster and the local IBM Cloud, in virtual time: from a pending pod to a preempted machine. */
import { describe, expect, it } from 'vitest';
import { IBM_NODE_CLASSES } from '../../src/apis/ibm/ibm-node-class.ts';
import { isTrue } from '../../src/apis/karpenter/conditions.ts';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { EVENTS } from '../../src/apis/kubernetes/event.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { PODS } from '../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import { Autoscaler } from '../../src/app/autoscaler.ts';
import { installDefinitions } from '../../src/app/install-definitions.ts';
import type { LoadedCloud } from '../../src/cloud/cloud-module.ts';
import { IBM_CLOUD } from '../../src/cloud/ibm/ibm-module.ts';
import { openIbmCloud } from '../../src/cloud/ibm/open-ibm-cloud.ts';
import { ANNOTATION_SIMULATED } from '../../src/cloud/simulated/labels.ts';
import { EmbeddedCluster } from '../../src/embedded/cluster.ts';
import { aDeployment, aTemplate } from '../../src/embedded/testkit/workloads.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { Metrics } from '../../src/platform/metrics.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { VirtualClock } from '../../src/platform/virtual-clock.ts';
import { IbmServer } from './server/ibm-server.ts';
import { bootMachines } from './testkit/booting-machines.ts';
import { classSpec, localOptions, prepareCluster } from './testkit/local-ibm.ts';
import { wireless } from './testkit/wireless.ts';

const MINUTE = 60_000;

async function setUp(capacityTypes: readonly string[]) {
  const clock = new VirtualClock();
  const random = seededRandom('end-to-end');
  const cluster = new EmbeddedCluster({ clock, random });
  const server = new IbmServer({ clock, random: random.split('ibm') });
  const { client } = cluster;
  const stop = new AbortController();
  const running: Promise<unknown>[] = [cluster.run(stop.signal)];
  const loaded = await IBM_CLOUD.load(localOptions() as unknown as Record<string, unknown>);
  const ibm: LoadedCloud = { ...loaded, open: (world) => openIbmCloud(world, localOptions(), wireless(server)) };
  await clock.run(installDefinitions(client, [ibm], stop.signal));
  await prepareCluster(client);
  await client.create(IBM_NODE_CLASSES, {
    apiVersion: 'karpenter-ibm.sh/v1alpha1',
    kind: 'IBMNodeClass',
    metadata: { name: 'default' },
    spec: classSpec(server),
  });
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
  const autoscaler = new Autoscaler({
    ...{ client, clock, random, logger: SILENT_LOGGER, metrics: new Metrics(), cluster: 'test' },
    ...{ batchIdleMs: 1000, batchMaxMs: 10_000, solveSteps: 200_000 },
    clouds: [ibm],
  });
  const boot = {
    world: server.world,
    client,
    clock,
    annotations: { [ANNOTATION_SIMULATED]: 'true' },
    powerOff: (node: string) => cluster.kubelets.kill(node),
  };
  running.push(autoscaler.watch(stop.signal), autoscaler.act(stop.signal), bootMachines(boot, stop.signal));
  const end = async (): Promise<void> => {
    stop.abort(new Error('the end'));
    await clock.run(Promise.allSettled(running), 'the end of the world');
  };
  const runningPods = async (): Promise<number> =>
    (await client.list(PODS)).items.filter(({ status }) => status?.phase === 'Running').length;
  await clock.advance(10_000);
  return { clock, client, server, end, runningPods };
}

function web(replicas: number, affinity: object = {}) {
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '3' } } }];
  return aDeployment('web', { replicas, template: aTemplate('web', 'app:1', { containers, affinity } as never) });
}

describe('IBM Cloud, end to end', () => {
  it('launches spot machines for pending pods, which join by their own user data, and deletes them when nothing needs them', async () => {
    const { clock, client, server, end, runningPods } = await setUp(['spot']);
    const nodeClass = await client.get(IBM_NODE_CLASSES, { name: 'default' });
    expect(nodeClass.status?.conditions?.map(({ type, status, message }) => [type, status, message])).toEqual(
      expect.arrayContaining([['Ready', 'True', '']]),
    );
    await client.create(DEPLOYMENTS, web(3));
    expect(await clock.runUntil(() => server.world.count().instances > 0, MINUTE)).toBe(true);
    await clock.advance(2 * MINUTE);
    expect(await runningPods()).toBe(3);
    const claims = (await client.list(NODE_CLAIMS)).items;
    expect(claims.every((claim) => isTrue(claim, 'Initialized'))).toBe(true);
    expect([...server.world.instances.values()].every(({ availabilityClass }) => availabilityClass === 'spot')).toBe(
      true,
    );
    for (const claim of claims) {
      expect(claim.metadata.labels).toMatchObject({
        'karpenter.sh/capacity-type': 'spot',
        'topology.kubernetes.io/region': 'us-south',
      });
      expect(claim.metadata.annotations).toMatchObject({
        'karpenter-ibm.sh/image-id': expect.stringMatching(/^r006-/),
        'karpenter-ibm.sh/subnet-id': expect.stringMatching(/^07/),
      });
    }
    await client.delete(DEPLOYMENTS, { namespace: 'default', name: 'web' });
    for (const { metadata } of claims) await client.delete(NODE_CLAIMS, { name: metadata.name ?? '' });
    await clock.advance(3 * MINUTE);
    expect(server.world.count()).toEqual({ instances: 0, volumes: 0, interfaces: 0 });
    expect((await client.list(NODES)).items).toEqual([]);
    await end();
  });

  it('answers a preemption with a machine elsewhere, deletes what is left of the old one, and tells people', async () => {
    const { clock, client, server, end, runningPods } = await setUp(['spot', 'on-demand']);
    await client.create(DEPLOYMENTS, web(1));
    await clock.advance(2 * MINUTE);
    expect(await runningPods()).toBe(1);
    const [first] = [...server.world.instances.values()];
    const before = `${first?.availabilityClass}:${first?.profile.name}:${first?.zone}`;
    expect(before.startsWith('spot:')).toBe(true);
    server.world.preempt(first?.id ?? '');
    await clock.advance(4 * MINUTE);
    expect(await runningPods()).toBe(1);
    const [second, ...more] = [...server.world.instances.values()];
    expect(more).toEqual([]);
    expect(`${second?.availabilityClass}:${second?.profile.name}:${second?.zone}`).not.toBe(before);
    expect(server.world.count()).toEqual({ instances: 1, volumes: 1, interfaces: 1 });
    const reasons = (await client.list(EVENTS)).items.map(({ reason }) => reason);
    expect(reasons).toContain('SpotPreemption');
    await end();
  });

  it('goes on with the next offering in the same launch when a 201 turns out to be no machine', async () => {
    const { clock, client, server, end, runningPods } = await setUp(['spot', 'on-demand']);
    server.world.faults.noCapacity.add('spot:*:us-south-1');
    server.world.faults.noCapacity.add('spot:*:us-south-2');
    server.world.faults.leavesLeftovers = true;
    await client.create(DEPLOYMENTS, web(2));
    await clock.advance(5 * MINUTE);
    expect(await runningPods()).toBe(2);
    const instances = [...server.world.instances.values()].filter(({ deletedAt }) => deletedAt === undefined);
    expect(
      instances.every(({ zone, availabilityClass }) => zone === 'us-south-3' || availabilityClass === 'standard'),
    ).toBe(true);
    await clock.advance(25 * MINUTE);
    const { instances: machines, volumes, interfaces } = server.world.count();
    expect([volumes, interfaces]).toEqual([machines, machines]);
    await end();
  });

  it('keeps to the limit of the API while forty machines are wanted at once, and launches each once', async () => {
    const { clock, client, server, end, runningPods } = await setUp(['spot']);
    server.world.faults.requestsPerSecond = 15;
    await client.create(
      DEPLOYMENTS,
      web(40, {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' },
          ],
        },
      }),
    );
    await clock.advance(10 * MINUTE);
    expect(await runningPods()).toBe(40);
    expect(server.world.count()).toEqual({ instances: 40, volumes: 40, interfaces: 40 });
    expect([...server.world.made.values()].every((times) => times === 1)).toBe(true);
    await end();
  });
});
