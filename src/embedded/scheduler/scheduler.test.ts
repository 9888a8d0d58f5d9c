import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../apis/kubernetes/event.ts';
import { NODES } from '../../apis/kubernetes/node.ts';
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import { aNode, aPod } from '../testkit/objects.ts';
import { World } from '../testkit/world.ts';
import { Scheduler } from './scheduler.ts';

async function withScheduler(...nodes: string[]): Promise<World> {
  const world = new World();
  await world.create(NODES, ...nodes.map((name) => aNode(name)));
  await world.start(new Scheduler(world));
  return world;
}

const scheduled = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');

describe('the scheduler', () => {
  it('binds a pod to a node and says so', async () => {
    await using world = await withScheduler('n1');
    await world.create(PODS, aPod('web'));
    await world.settle();
    const pod = await world.get(PODS, 'web');
    expect(pod.spec.nodeName).toBe('n1');
    expect(scheduled(pod)).toMatchObject({ status: 'True' });
    expect(await world.list(EVENTS)).toMatchObject([
      { reason: 'Scheduled', message: 'Successfully assigned default/web to n1', involvedObject: { name: 'web' } },
    ]);
  });

  it('marks a pod that fits nowhere, once, and binds it as soon as a node comes that it fits on', async () => {
    await using world = await withScheduler('n1');
    await world.create(PODS, aPod('big', { requests: { cpu: '8' } }));
    await world.settle();
    const refused = await world.get(PODS, 'big');
    expect(scheduled(refused)).toMatchObject({
      status: 'False',
      reason: 'Unschedulable',
      message: expect.stringMatching(
        /^0\/1 nodes are available: 1 Insufficient cpu\. no new claims to deallocate, preemption: /,
      ),
    });
    await world.create(NODES, aNode('small'));
    await world.settle(20_000);
    expect((await world.get(PODS, 'big')).metadata.resourceVersion).toBe(refused.metadata.resourceVersion);
    await world.create(NODES, aNode('large', { capacity: { cpu: '16' } }));
    await world.settle();
    expect((await world.get(PODS, 'big')).spec.nodeName).toBe('large');
    expect((await world.list(EVENTS)).map((event) => event.reason)).toEqual(
      expect.arrayContaining(['FailedScheduling', 'Scheduled']),
    );
  });

  it('gives the room of a pod that left to one that waits', async () => {
    await using world = await withScheduler('n1');
    await world.create(PODS, aPod('first', { requests: { cpu: '3' } }));
    await world.settle();
    await world.create(PODS, aPod('second', { requests: { cpu: '3' } }));
    await world.settle(5_000);
    expect((await world.get(PODS, 'second')).spec.nodeName).toBeUndefined();
    await world.client.delete(PODS, { name: 'first', namespace: 'default' }, { gracePeriodSeconds: 0 });
    await world.settle();
    expect((await world.get(PODS, 'second')).spec.nodeName).toBe('n1');
  });

  it('gives the room of a pod that has ended to one that waits', async () => {
    await using world = await withScheduler('n1');
    await world.create(PODS, aPod('first', { requests: { cpu: '3' } }));
    await world.settle();
    await world.create(PODS, aPod('second', { requests: { cpu: '3' } }));
    await world.settle(5_000);
    await world.change(PODS, 'first', { status: { phase: 'Succeeded' } }, 'status');
    await world.settle();
    expect((await world.get(PODS, 'second')).spec.nodeName).toBe('n1');
  });

  it('places the more important pod first', async () => {
    await using world = await withScheduler();
    await world.create(
      PODS,
      aPod('low', { requests: { cpu: '3' } }),
      aPod('high', { requests: { cpu: '3' }, spec: { priorityClassName: 'system-cluster-critical' } }),
    );
    await world.settle();
    await world.create(NODES, aNode('n1'));
    await world.settle(5_000);
    expect((await world.get(PODS, 'high')).spec.nodeName).toBe('n1');
    expect((await world.get(PODS, 'low')).spec.nodeName).toBeUndefined();
  });

  it('leaves pods of other schedulers alone', async () => {
    await using world = await withScheduler('n1');
    await world.create(PODS, aPod('other', { spec: { schedulerName: 'my-scheduler' } }));
    await world.settle(60_000);
    expect((await world.get(PODS, 'other')).spec.nodeName).toBeUndefined();
  });

  it('waits for the last scheduling gate to open', async () => {
    await using world = await withScheduler('n1');
    await world.create(PODS, aPod('gated', { spec: { schedulingGates: [{ name: 'example.com/wait' }] } }));
    await world.settle(60_000);
    expect(scheduled(await world.get(PODS, 'gated'))).toMatchObject({ status: 'False', reason: 'SchedulingGated' });
    await world.change(PODS, 'gated', { spec: { schedulingGates: null } });
    await world.settle();
    expect((await world.get(PODS, 'gated')).spec.nodeName).toBe('n1');
  });

  it('uses a node again once it is no longer cordoned', async () => {
    await using world = await withScheduler('n1');
    await world.change(NODES, 'n1', { spec: { unschedulable: true } });
    await world.create(PODS, aPod('web'));
    await world.settle(5_000);
    expect(scheduled(await world.get(PODS, 'web'))?.message).toContain('1 node(s) were unschedulable');
    await world.change(NODES, 'n1', { spec: { unschedulable: null } });
    await world.settle();
    expect((await world.get(PODS, 'web')).spec.nodeName).toBe('n1');
  });

  it('does not bother pods with a new node that has no room for them', async () => {
    await using world = await withScheduler();
    await world.create(
      PODS,
      ...Array.from({ length: 100 }, (_, index) => aPod(`p${index}`, { requests: { cpu: '1' } })),
    );
    await world.settle(20_000);
    const before = new Map((await world.list(PODS)).map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    await world.create(NODES, aNode('n1'));
    await world.settle(20_000);
    const pods = await world.list(PODS);
    expect(pods.filter(({ spec }) => spec.nodeName === 'n1')).toHaveLength(4);
    expect(pods.filter(({ metadata }) => before.get(metadata.name) !== metadata.resourceVersion)).toHaveLength(8);
  });

  it('never places more than a node holds, however fast the pods come', async () => {
    await using world = await withScheduler('n1', 'n2');
    await world.create(
      PODS,
      ...Array.from({ length: 30 }, (_, index) => aPod(`p${index}`, { requests: { cpu: '500m' } })),
    );
    await world.settle(1_000);
    const pods = await world.list(PODS);
    const on = (node: string | undefined): number => pods.filter((pod) => pod.spec.nodeName === node).length;
    expect([on('n1'), on('n2'), on(undefined)]).toEqual([8, 8, 14]);
  });
});
