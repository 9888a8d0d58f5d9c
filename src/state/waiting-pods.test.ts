import { describe, expect, it } from 'vitest';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { InformerHandler } from '../kube/informer.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { WaitingPods } from './waiting-pods.ts';

function aPod(
  name: string,
  parts: { readonly metadata?: object; readonly spec?: object; readonly status?: object } = {},
) {
  const metadata = { name, uid: name, namespace: 'default', ...parts.metadata };
  return { ...parts, metadata, spec: { containers: [], ...parts.spec } } as unknown as Pod;
}

const on = (node: string) => ({ spec: { nodeName: node } });

function setUp() {
  const clock = new VirtualClock();
  let heard: InformerHandler<Pod> = {};
  const addHandler = (handler: InformerHandler<Pod>) => {
    heard = handler;
    return () => {};
  };
  const waiting = new WaitingPods({ clock, pods: { addHandler } });
  return {
    clock,
    waiting,
    added: (pod: Pod) => heard.added?.(pod),
    updated: (pod: Pod) => heard.updated?.(pod, pod),
    deleted: (pod: Pod) => heard.deleted?.(pod, pod),
  };
}

describe('it is quiet', () => {
  it('from when the last pod that waited has a node', async () => {
    const { clock, waiting, added, updated } = setUp();
    await clock.advance(5000);
    expect(waiting.quietMs).toBe(5000);
    added(aPod('a'));
    added(aPod('b'));
    updated(aPod('a', on('n')));
    await clock.advance(5000);
    expect(waiting.quietMs).toBe(0);
    updated(aPod('b', on('n')));
    await clock.advance(2000);
    expect(waiting.quietMs).toBe(2000);
    // A pod that stays on its node causes no new pods.
    updated(aPod('b', on('n')));
    expect(waiting.quietMs).toBe(2000);
  });

  it('from when the last pod has gone, as another may come in its place', async () => {
    const { clock, waiting, added, deleted } = setUp();
    added(aPod('a', on('n')));
    added(aPod('b'));
    await clock.advance(5000);
    deleted(aPod('b'));
    await clock.advance(1000);
    deleted(aPod('a', { ...on('n'), status: { phase: 'Succeeded' } }));
    await clock.advance(2000);
    expect(waiting.quietMs).toBe(2000);
  });

  it('while pods wait only for their own node, for leave to be scheduled, or for their end', async () => {
    const { clock, waiting, added } = setUp();
    added(aPod('daemon', { metadata: { ownerReferences: [{ kind: 'DaemonSet', name: 'd', uid: 'd' }] } }));
    added(aPod('gated', { spec: { schedulingGates: [{ name: 'later' }] } }));
    added(aPod('leaving', { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } }));
    await clock.advance(1000);
    expect(waiting.quietMs).toBe(1000);
    // The scheduler nominates a node, and binds the pod once its volumes are ready.
    added(aPod('nominated', { status: { nominatedNodeName: 'n' } }));
    expect(waiting.quietMs).toBe(0);
  });
});
