import { describe, expect, it } from 'vitest';
import { LEASES } from '../../apis/kubernetes/lease.ts';
import { NODES } from '../../apis/kubernetes/node.ts';
import { PODS, type Pod, type PodSpec } from '../../apis/kubernetes/pod.ts';
import { parseTimestamp } from '../../platform/clock.ts';
import { aNode, aPod } from '../testkit/objects.ts';
import { World } from '../testkit/world.ts';
import { Kubelets } from './kubelets.ts';

async function withNode(): Promise<{ world: World; kubelets: Kubelets } & AsyncDisposable> {
  const world = new World();
  const kubelets = new Kubelets(world);
  await world.start(kubelets);
  await kubelets.join({ name: 'n1', labels: { zone: 'a' }, taints: [{ key: 'spot', effect: 'NoSchedule' }] });
  await world.settle();
  return { world, kubelets, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

const bound = (name: string, options: Parameters<typeof aPod>[1] = {}): Pod =>
  aPod(name, { ...options, spec: { nodeName: 'n1', ...options.spec } });
const ready = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === 'Ready');
const container = (pod: Pod) => pod.status?.containerStatuses?.[0] as Record<string, unknown>;
const running = (command: string[], spec: Partial<PodSpec> = {}): Parameters<typeof aPod>[1] => ({
  spec: { containers: [{ name: 'main', image: 'app', command }], ...spec },
});

describe('a simulated node', () => {
  it('registers with its labels, taints and capacity, and is ready', async () => {
    await using test = await withNode();
    const node = await test.world.get(NODES, 'n1');
    expect(node.metadata.labels).toMatchObject({
      zone: 'a',
      'kubernetes.io/hostname': 'n1',
      'kubernetes.io/os': 'linux',
    });
    expect(node.spec?.taints).toMatchObject([{ key: 'spot', effect: 'NoSchedule' }]);
    expect(node.status?.allocatable).toMatchObject({ cpu: '4', pods: '110' });
    expect(node.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'True',
      reason: 'KubeletReady',
    });
    expect(node.status?.addresses).toContainEqual({ type: 'Hostname', address: 'n1' });
  });

  it('renews its lease every ten seconds', async () => {
    await using test = await withNode();
    const renewed = async (): Promise<number> =>
      parseTimestamp((await test.world.get(LEASES, 'n1', 'kube-node-lease')).spec?.renewTime) ?? 0;
    await test.world.settle(60_000);
    const before = await renewed();
    await test.world.settle(10_000);
    expect((await renewed()) - before).toBe(10_000);
    expect(test.world.clock.now() - before).toBeLessThanOrEqual(20_000);
  });

  it('is taken over when someone else made its object and asked for it', async () => {
    await using test = await withNode();
    const node = aNode('mine', { capacity: { cpu: '64' } });
    const annotations = { 'spindrift.dev/simulated': 'true', 'spindrift.dev/ready-after': '30s' };
    await test.world.create(NODES, { ...node, metadata: { ...node.metadata, annotations } }, aNode('not-mine'));
    await test.world.settle();
    const readiness = async (name: string) =>
      (await test.world.get(NODES, name)).status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    expect(await readiness('mine')).toBe('False');
    await test.world.settle(30_000);
    expect(await readiness('mine')).toBe('True');
    expect(await readiness('not-mine')).toBeUndefined();
    expect((await test.world.get(NODES, 'mine')).status?.capacity?.cpu).toBe('64');
  });

  it('falls silent when it dies, and goes on when it comes back', async () => {
    await using test = await withNode();
    await test.world.create(
      PODS,
      bound('p', { annotations: { 'spindrift.dev/run-for': '30s' }, spec: { restartPolicy: 'Never' } }),
    );
    await test.world.settle(20_000);
    test.kubelets.kill('n1');
    await test.world.settle(60_000);
    const lease = await test.world.get(LEASES, 'n1', 'kube-node-lease');
    expect(test.world.clock.now() - (parseTimestamp(lease.spec?.renewTime) ?? 0)).toBeGreaterThanOrEqual(60_000);
    expect((await test.world.get(PODS, 'p')).status?.phase).toBe('Running');
    test.kubelets.revive('n1');
    await test.world.settle();
    expect((await test.world.get(PODS, 'p')).status?.phase).toBe('Succeeded');
  });

  it('stops its pods and says so when it is told to shut down', async () => {
    await using test = await withNode();
    await test.world.create(PODS, bound('p', { annotations: { 'spindrift.dev/stop-after': '5s' } }));
    await test.world.settle();
    test.kubelets.shutDown('n1');
    await test.world.settle();
    const node = await test.world.get(NODES, 'n1');
    expect(node.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      message: 'node is shutting down',
    });
    expect((await test.world.get(PODS, 'p')).status?.phase).toBe('Running');
    await test.world.settle(5_000);
    expect((await test.world.get(PODS, 'p')).status).toMatchObject({
      phase: 'Failed',
      reason: 'Terminated',
      message: 'Pod was terminated in response to imminent node shutdown.',
    });
    await test.world.settle(60_000);
    const lease = await test.world.get(LEASES, 'n1', 'kube-node-lease');
    expect(test.world.clock.now() - (parseTimestamp(lease.spec?.renewTime) ?? 0)).toBeGreaterThan(40_000);
  });
});

describe('a pod on a simulated node', () => {
  it('runs and is ready at once when nothing says otherwise', async () => {
    await using test = await withNode();
    await test.world.create(PODS, bound('p'));
    await test.world.settle();
    const pod = await test.world.get(PODS, 'p');
    expect(pod.status).toMatchObject({ phase: 'Running', startTime: '2030-01-01T00:00:00Z', podIP: '10.128.0.2' });
    expect(ready(pod)).toMatchObject({ status: 'True' });
    expect(container(pod)).toMatchObject({
      name: 'main',
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: '2030-01-01T00:00:00Z' } },
    });
    const { resourceVersion } = pod.metadata;
    await test.world.settle(3_600_000);
    expect((await test.world.get(PODS, 'p')).metadata.resourceVersion).toBe(resourceVersion);
  });

  it('starts, and becomes ready, after the delays it asks for', async () => {
    await using test = await withNode();
    const annotations = { 'spindrift.dev/start-after': '3s', 'spindrift.dev/ready-after': '4s' };
    await test.world.create(PODS, bound('p', { annotations }));
    const look = async (): Promise<unknown[]> => {
      const pod = await test.world.get(PODS, 'p');
      return [pod.status?.phase, ready(pod)?.status, ready(pod)?.reason];
    };
    await test.world.settle(2_999);
    expect(await look()).toEqual(['Pending', 'False', 'ContainersNotReady']);
    await test.world.settle(1);
    expect(await look()).toEqual(['Running', 'False', 'ContainersNotReady']);
    await test.world.settle(4_000);
    expect(await look()).toEqual(['Running', 'True', undefined]);
  });

  it.each([
    [['sleep', '5'], 'Succeeded', 0, 'Completed'],
    [['sh', '-c', 'sleep 5; exit 3'], 'Failed', 3, 'Error'],
  ])('that runs %j ends as %s', async (command, phase, exitCode, reason) => {
    await using test = await withNode();
    await test.world.create(PODS, bound('p', running(command, { nodeName: 'n1', restartPolicy: 'Never' })));
    await test.world.settle(4_999);
    expect((await test.world.get(PODS, 'p')).status?.phase).toBe('Running');
    await test.world.settle(1);
    const pod = await test.world.get(PODS, 'p');
    expect(pod.status?.phase).toBe(phase);
    expect(container(pod)).toMatchObject({ ready: false, state: { terminated: { exitCode, reason } } });
    expect(ready(pod)).toMatchObject({ status: 'False', reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed' });
  });

  it('whose container fails is restarted with a growing back-off', async () => {
    await using test = await withNode();
    await test.world.create(PODS, bound('p', running(['sh', '-c', 'sleep 1; exit 1'], { nodeName: 'n1' })));
    const restarts = async () => container(await test.world.get(PODS, 'p')).restartCount;
    await test.world.settle(1_500);
    expect(await restarts()).toBe(1);
    await test.world.settle(1_000);
    expect(container(await test.world.get(PODS, 'p'))).toMatchObject({
      state: {
        waiting: {
          reason: 'CrashLoopBackOff',
          message: expect.stringContaining('back-off 10s restarting failed container=main'),
        },
      },
      lastState: { terminated: { exitCode: 1, reason: 'Error' } },
    });
    await test.world.settle(10_000);
    expect(await restarts()).toBe(2);
    await test.world.settle(22_000);
    expect(await restarts()).toBe(3);
  });

  it('runs its init containers first, one after the other, and keeps sidecars running', async () => {
    await using test = await withNode();
    const initContainers: PodSpec['initContainers'] = [
      { name: 'one', image: 'app', command: ['sleep', '2'] },
      { name: 'proxy', image: 'app', restartPolicy: 'Always' },
      { name: 'two', image: 'app', command: ['sleep', '3'] },
    ];
    await test.world.create(PODS, bound('p', { spec: { initContainers } }));
    await test.world.settle(4_999);
    expect((await test.world.get(PODS, 'p')).status?.phase).toBe('Pending');
    await test.world.settle(1);
    const pod = await test.world.get(PODS, 'p');
    expect(pod.status?.phase).toBe('Running');
    expect((pod.status as { initContainerStatuses?: object[] }).initContainerStatuses).toMatchObject([
      { name: 'one', state: { terminated: { exitCode: 0 } } },
      { name: 'proxy', state: { running: {} } },
      { name: 'two', state: { terminated: { exitCode: 0 } } },
    ]);
  });

  it('is failed when it runs longer than its deadline', async () => {
    await using test = await withNode();
    await test.world.create(PODS, bound('p', { spec: { activeDeadlineSeconds: 10 } }));
    await test.world.settle(10_000);
    expect((await test.world.get(PODS, 'p')).status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
  });

  it('that is deleted goes when its process has ended', async () => {
    await using test = await withNode();
    await test.world.create(PODS, bound('p', { annotations: { 'spindrift.dev/stop-after': '8s' } }));
    await test.world.settle();
    await test.world.client.delete(PODS, { name: 'p', namespace: 'default' });
    await test.world.settle(7_999);
    expect(await test.world.list(PODS)).toHaveLength(1);
    await test.world.settle(1);
    expect(await test.world.list(PODS)).toEqual([]);
  });

  it('that does not end in time is killed when its grace is over', async () => {
    await using test = await withNode();
    const options = { annotations: { 'spindrift.dev/stop-after': '10m' }, spec: { terminationGracePeriodSeconds: 20 } };
    await test.world.create(PODS, bound('p', options));
    await test.world.settle();
    await test.world.client.delete(PODS, { name: 'p', namespace: 'default' });
    await test.world.settle(19_000);
    expect(await test.world.list(PODS)).toHaveLength(1);
    await test.world.client.delete(PODS, { name: 'p', namespace: 'default' }, { gracePeriodSeconds: 0 });
    await test.world.settle();
    expect(await test.world.list(PODS)).toEqual([]);
  });

  it('that someone holds with a finalizer says how it ended', async () => {
    await using test = await withNode();
    const pod = bound('p');
    await test.world.create(PODS, { ...pod, metadata: { ...pod.metadata, finalizers: ['example.com/hold'] } });
    await test.world.settle();
    await test.world.client.delete(PODS, { name: 'p', namespace: 'default' });
    await test.world.settle();
    const ended = await test.world.get(PODS, 'p');
    expect(ended.status?.phase).toBe('Failed');
    expect(container(ended)).toMatchObject({ state: { terminated: { exitCode: 143, reason: 'Error' } } });
  });
});
