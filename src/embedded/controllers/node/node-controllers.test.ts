import { describe, expect, it } from 'vitest';
import { NODES, type Node } from '../../../apis/kubernetes/node.ts';
import { PODS, type Pod } from '../../../apis/kubernetes/pod.ts';
import { Kubelets } from '../../kubelet/kubelets.ts';
import { aPod } from '../../testkit/objects.ts';
import { World } from '../../testkit/world.ts';
import { NodeLifecycleController } from './node-lifecycle-controller.ts';
import { PodGcController } from './pod-gc-controller.ts';
import { TaintEvictionController } from './taint-eviction-controller.ts';

async function withNode(): Promise<{ world: World; kubelets: Kubelets } & AsyncDisposable> {
  const world = new World();
  const kubelets = new Kubelets(world);
  await world.start(
    kubelets,
    new NodeLifecycleController(world),
    new TaintEvictionController(world),
    new PodGcController(world),
  );
  await kubelets.join({ name: 'n1' });
  await world.settle();
  return { world, kubelets, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

const taints = (node: Node): string[] =>
  (node.spec?.taints ?? []).map(({ key, effect }) => `${key.split('/')[1]}:${effect}`).sort();
const ready = (object: Node | Pod) => object.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
const bound = (name: string, options: Parameters<typeof aPod>[1] = {}): Pod =>
  aPod(name, { ...options, spec: { nodeName: 'n1', ...options.spec } });

describe('a node', () => {
  it('has no taint while it is ready', async () => {
    await using test = await withNode();
    await test.world.settle(3_600_000);
    expect(taints(await test.world.get(NODES, 'n1'))).toEqual([]);
    expect(ready(await test.world.get(NODES, 'n1'))).toBe('True');
  });

  it('is tainted while it is cordoned', async () => {
    await using test = await withNode();
    await test.world.change(NODES, 'n1', { spec: { unschedulable: true } });
    await test.world.settle();
    expect(taints(await test.world.get(NODES, 'n1'))).toEqual(['unschedulable:NoSchedule']);
    await test.world.change(NODES, 'n1', { spec: { unschedulable: null } });
    await test.world.settle();
    expect(taints(await test.world.get(NODES, 'n1'))).toEqual([]);
  });

  it('is unreachable when its lease was not renewed for forty seconds, and its pods are not ready', async () => {
    await using test = await withNode();
    await test.world.create(PODS, bound('p'));
    await test.world.settle(1_000);
    test.kubelets.kill('n1');
    await test.world.settle(29_000);
    expect(ready(await test.world.get(NODES, 'n1'))).toBe('True');
    await test.world.settle(12_000);
    const node = await test.world.get(NODES, 'n1');
    expect(node.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
    });
    expect(taints(node)).toEqual(['unreachable:NoExecute', 'unreachable:NoSchedule']);
    expect(ready(await test.world.get(PODS, 'p'))).toBe('False');
  });

  it('loses those taints, and its pods are ready again, when it comes back', async () => {
    await using test = await withNode();
    await test.world.create(PODS, bound('p'));
    await test.world.settle(1_000);
    test.kubelets.kill('n1');
    await test.world.settle(60_000);
    test.kubelets.revive('n1');
    await test.world.settle(1_000);
    const node = await test.world.get(NODES, 'n1');
    expect([ready(node), taints(node)]).toEqual(['True', []]);
    expect(ready(await test.world.get(PODS, 'p'))).toBe('True');
  });

  it('that shuts down is not ready and is tainted so', async () => {
    await using test = await withNode();
    test.kubelets.shutDown('n1');
    await test.world.settle();
    expect(taints(await test.world.get(NODES, 'n1'))).toEqual(['not-ready:NoExecute', 'not-ready:NoSchedule']);
  });

  it('keeps the taints that others gave it', async () => {
    await using test = await withNode();
    await test.world.change(NODES, 'n1', {
      spec: { taints: [{ key: 'example.com/spot', effect: 'NoSchedule' }], unschedulable: true },
    });
    await test.world.settle();
    expect(taints(await test.world.get(NODES, 'n1'))).toEqual(['spot:NoSchedule', 'unschedulable:NoSchedule']);
  });
});

describe('a pod on a node that is lost', () => {
  it('is deleted five minutes after the taint, with the reason, and stays until the node is gone', async () => {
    await using test = await withNode();
    await test.world.create(PODS, bound('p'));
    await test.world.settle(1_000);
    test.kubelets.kill('n1');
    await test.world.settle(41_000);
    await test.world.settle(290_000);
    expect((await test.world.get(PODS, 'p')).metadata.deletionTimestamp).toBeUndefined();
    await test.world.settle(12_000);
    const pod = await test.world.get(PODS, 'p');
    expect(pod.metadata.deletionTimestamp).toBeDefined();
    expect(pod.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' }),
    );
    await test.world.settle(600_000);
    expect(await test.world.list(PODS)).toHaveLength(1);
    await test.world.client.delete(NODES, { name: 'n1' });
    await test.world.settle(41_000);
    expect(await test.world.list(PODS)).toEqual([]);
  });

  it('stays as long as it tolerates the taint, and for ever if it says no time', async () => {
    await using test = await withNode();
    const tolerate = (seconds?: number) => ({
      tolerations: [
        {
          operator: 'Exists',
          effect: 'NoExecute',
          ...(seconds !== undefined && { tolerationSeconds: seconds }),
        } as const,
      ],
    });
    await test.world.create(PODS, bound('short', { spec: tolerate(10) }), bound('ever', { spec: tolerate() }));
    await test.world.settle(1_000);
    test.kubelets.kill('n1');
    await test.world.settle(53_000);
    const deleted = async (name: string) => (await test.world.get(PODS, name)).metadata.deletionTimestamp !== undefined;
    expect([await deleted('short'), await deleted('ever')]).toEqual([true, false]);
    await test.world.settle(3_600_000);
    expect(await deleted('ever')).toBe(false);
  });

  it('leaves a node at once that is tainted against it', async () => {
    await using test = await withNode();
    await test.world.create(PODS, bound('p'));
    await test.world.settle(1_000);
    await test.world.change(NODES, 'n1', { spec: { taints: [{ key: 'example.com/out', effect: 'NoExecute' }] } });
    await test.world.settle(1_000);
    expect(await test.world.list(PODS)).toEqual([]);
  });
});
