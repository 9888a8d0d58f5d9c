import { describe, expect, it } from 'vitest';
import { NODES, type Node } from '../apis/kubernetes/node.ts';
import type { KubeClient } from '../kube/client.ts';
import type { InformerHandler } from '../kube/informer.ts';
import type { ClusterInformers } from '../state/cluster-informers.ts';
import { OwnWrites } from './own-writes.ts';
import { aNode } from './testkit/objects.ts';

const version = (resourceVersion: string, metadata: Partial<Node['metadata']> = {}): Node =>
  aNode({ metadata: { resourceVersion, ...metadata } });

function setUp(...answers: Node[]) {
  const bodies: object[] = [];
  const handlers: InformerHandler<Node>[] = [];
  const cached: { node?: Node } = {};
  const informer = {
    addHandler: (handler: InformerHandler<Node>) => void handlers.push(handler),
    get: () => cached.node,
  };
  const patch = async (_: unknown, __: unknown, sent: { body: object }) => {
    bodies.push(sent.body);
    return answers.shift();
  };
  const kinds = { nodes: informer, nodeClaims: informer, nodePools: informer, spotPolicies: informer };
  const informers = kinds as unknown as ClusterInformers;
  return { bodies, cached, handlers, writes: new OwnWrites({ patch } as unknown as KubeClient, informers) };
}

describe('our own writes', () => {
  it('stand for the object while the cache shows a version that they replaced', async () => {
    const { writes } = setUp(version('2'), version('3'));
    const second = await writes.patch(NODES, version('1'), {}, {});
    await writes.patch(NODES, second, {}, {});
    for (const old of ['1', '2']) expect(writes.newest(version(old)).metadata.resourceVersion).toBe('3');
  });

  it('are forgotten when the cache shows them, or something newer', async () => {
    const { writes } = setUp(version('2'));
    await writes.patch(NODES, version('1'), {}, {});
    expect(writes.newest(version('7')).metadata.resourceVersion).toBe('7');
    expect(writes.newest(version('1')).metadata.resourceVersion).toBe('1');
  });

  it('stand also for an older version, which somebody read a while ago, and are not forgotten for that', async () => {
    const { cached, writes } = setUp(version('3'));
    cached.node = version('2');
    await writes.patch(NODES, version('2'), {}, {});
    for (const old of ['1', '2']) expect(writes.newest(version(old)).metadata.resourceVersion).toBe('3');
  });

  it('are kept no longer than until the cache shows them, whether somebody asks or not', async () => {
    const { cached, handlers, writes } = setUp(version('2'), version('3'), version('4'));
    const second = await writes.patch(NODES, version('1'), {}, {});
    const third = await writes.patch(NODES, second, {}, {});
    for (const handler of handlers) handler.updated?.(version('2'), version('1'));
    expect(writes.size).toBe(1);
    for (const handler of handlers) handler.updated?.(version('3'), version('2'));
    expect(writes.size).toBe(0);
    cached.node = version('4');
    await writes.patch(NODES, third, {}, {});
    expect(writes.size).toBe(0);
  });

  it('are forgotten with the object', async () => {
    const { writes, handlers } = setUp(version('2'), version('3', { deletionTimestamp: '2030-01-01T00:00:00Z' }));
    await writes.patch(NODES, version('1'), {}, {});
    for (const handler of handlers) handler.deleted?.(version('2'), version('2'));
    expect(writes.newest(version('1')).metadata.resourceVersion).toBe('1');
    await writes.patch(NODES, version('2'), {}, {});
    expect(writes.newest(version('2')).metadata.resourceVersion).toBe('2');
  });

  it('name the object and the version that they were decided on', async () => {
    const { writes, bodies } = setUp(version('2'));
    await writes.patch(NODES, version('1'), { metadata: { labels: { a: 'b' } } }, {});
    expect(bodies).toEqual([{ metadata: { labels: { a: 'b' }, uid: 'uid-node', resourceVersion: '1' } }]);
  });
});
