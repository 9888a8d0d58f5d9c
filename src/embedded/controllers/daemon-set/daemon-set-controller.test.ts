import { describe, expect, it } from 'vitest';
import { NODES } from '../../../apis/kubernetes/node.ts';
import { PODS } from '../../../apis/kubernetes/pod.ts';
import { CONTROLLER_REVISIONS, DAEMON_SETS, type DaemonSet } from '../../../apis/kubernetes/workloads.ts';
import { Kubelets } from '../../kubelet/kubelets.ts';
import { Scheduler } from '../../scheduler/scheduler.ts';
import { aDaemonSet, aTemplate } from '../../testkit/workloads.ts';
import { World } from '../../testkit/world.ts';
import { NodeLifecycleController } from '../node/node-lifecycle-controller.ts';
import { DaemonSetController } from './daemon-set-controller.ts';

async function withDaemonSet(
  spec: Partial<DaemonSet['spec']> = {},
): Promise<{ world: World; kubelets: Kubelets } & AsyncDisposable> {
  const world = new World();
  const kubelets = new Kubelets(world);
  await world.start(kubelets, new Scheduler(world), new NodeLifecycleController(world), new DaemonSetController(world));
  for (const name of ['n1', 'n2', 'n3']) await kubelets.join({ name, labels: { disk: name === 'n3' ? 'hdd' : 'ssd' } });
  await world.create(DAEMON_SETS, aDaemonSet('agent', spec));
  await world.settle(1_000);
  return { world, kubelets, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

const places = async (world: World): Promise<string[]> =>
  (await world.list(PODS))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ spec }) => `${spec.nodeName} ${spec.containers[0]!.image}`)
    .sort();

describe('a DaemonSet', () => {
  it('has one pod on every node, also on those that come later', async () => {
    await using test = await withDaemonSet();
    expect(await places(test.world)).toEqual(['n1 app:1', 'n2 app:1', 'n3 app:1']);
    await test.kubelets.join({ name: 'n4' });
    await test.world.settle(1_000);
    expect(await places(test.world)).toContain('n4 app:1');
    const daemonSet = await test.world.get(DAEMON_SETS, 'agent');
    expect(daemonSet.status).toMatchObject({
      desiredNumberScheduled: 4,
      currentNumberScheduled: 4,
      numberReady: 4,
      numberAvailable: 4,
      updatedNumberScheduled: 4,
      numberMisscheduled: 0,
      observedGeneration: daemonSet.metadata.generation,
    });
  });

  it('stays off nodes that its pods do not select or tolerate, and leaves those that change so', async () => {
    await using test = await withDaemonSet({
      template: aTemplate('agent', 'app:1', { nodeSelector: { disk: 'ssd' } }),
    });
    expect(await places(test.world)).toEqual(['n1 app:1', 'n2 app:1']);
    await test.world.change(NODES, 'n2', { metadata: { labels: { disk: 'hdd' } } });
    await test.world.settle(1_000);
    expect(await places(test.world)).toEqual(['n1 app:1']);
    await test.world.change(NODES, 'n1', { spec: { taints: [{ key: 'example.com/x', effect: 'NoSchedule' }] } });
    await test.world.settle(1_000);
    // A running pod may stay: only NoExecute evicts it.
    expect(await places(test.world)).toEqual(['n1 app:1']);
    expect((await test.world.get(DAEMON_SETS, 'agent')).status).toMatchObject({
      desiredNumberScheduled: 0,
      numberMisscheduled: 1,
    });
  });

  it('runs on cordoned nodes as well', async () => {
    await using test = await withDaemonSet();
    await test.world.change(NODES, 'n1', { spec: { unschedulable: true } });
    const victim = (await test.world.list(PODS)).find(({ spec }) => spec.nodeName === 'n1')!;
    await test.world.client.delete(PODS, { name: victim.metadata.name!, namespace: 'default' });
    await test.world.settle(1_000);
    expect(await places(test.world)).toEqual(['n1 app:1', 'n2 app:1', 'n3 app:1']);
    const [pod] = await test.world.list(PODS);
    expect(pod?.spec.tolerations).toContainEqual({
      key: 'node.kubernetes.io/unreachable',
      operator: 'Exists',
      effect: 'NoExecute',
    });
  });

  it('rolls a new template out one node after the other', async () => {
    await using test = await withDaemonSet();
    const template = aTemplate('agent', 'app:2', {}, { 'spindrift.dev/ready-after': '10s' });
    await test.world.change(DAEMON_SETS, 'agent', { spec: { template } });
    await test.world.settle(5_000);
    expect((await places(test.world)).filter((place) => place.endsWith('app:2'))).toHaveLength(1);
    await test.world.settle(10_000);
    expect((await places(test.world)).filter((place) => place.endsWith('app:2'))).toHaveLength(2);
    await test.world.settle(30_000);
    expect((await test.world.get(DAEMON_SETS, 'agent')).status).toMatchObject({
      updatedNumberScheduled: 3,
      numberAvailable: 3,
    });
    expect(await test.world.list(CONTROLLER_REVISIONS)).toHaveLength(2);
  });

  it('starts the new pod beside the old one when it may surge, and never serves with fewer', async () => {
    await using test = await withDaemonSet({ updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    const template = aTemplate('agent', 'app:2', {}, { 'spindrift.dev/ready-after': '10s' });
    await test.world.change(DAEMON_SETS, 'agent', { spec: { template } });
    const available: number[] = [];
    for (let second = 0; second < 50; second++) {
      await test.world.settle(1_000);
      available.push((await test.world.get(DAEMON_SETS, 'agent')).status?.numberAvailable ?? 0);
      expect((await places(test.world)).length).toBeLessThanOrEqual(4);
    }
    expect(Math.min(...available)).toBe(3);
    expect(await places(test.world)).toEqual(['n1 app:2', 'n2 app:2', 'n3 app:2']);
  });

  it('replaces a pod that has ended', async () => {
    await using test = await withDaemonSet();
    const [victim] = await test.world.list(PODS);
    await test.world.change(PODS, victim!.metadata.name!, { status: { phase: 'Failed' } }, 'status');
    await test.world.settle(1_000);
    expect(await places(test.world)).toEqual(['n1 app:1', 'n2 app:1', 'n3 app:1']);
    expect((await test.world.list(PODS)).map(({ metadata }) => metadata.uid)).not.toContain(victim!.metadata.uid);
  });
});
