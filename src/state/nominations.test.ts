import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import { keyText, type ObjectKey } from '../apis/kubernetes/object.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { InformerHandler } from '../kube/informer.ts';
import { toTimestamp } from '../platform/clock.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { Nominations } from './nominations.ts';
import { WaitingPods } from './waiting-pods.ts';

const CLAIM = { metadata: { name: 'c' } } as NodeClaim;

function setUp(...names: string[]) {
  const clock = new VirtualClock();
  const cache = new Map<string, Pod>();
  let heard: InformerHandler<Pod> = {};
  const put = (name: string, nodeName?: string): Pod => {
    const metadata = { name, namespace: 'default', uid: `uid-${name}` };
    const spec = { containers: [], ...(nodeName === undefined ? {} : { nodeName }) };
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
    cache.set(keyText({ namespace: 'default', name }), pod);
    heard.updated?.(pod, pod);
    return pod;
  };
  const get = (key: ObjectKey | string) => cache.get(typeof key === 'string' ? key : keyText(key));
  const addHandler = (handler: InformerHandler<Pod>) => {
    heard = handler;
    return () => {};
  };
  const waitingPods = new WaitingPods({ clock, pods: { addHandler } });
  const nominations = new Nominations({ clock, pods: { get }, waitingPods });
  const kept = () => nominations.keptFor(CLAIM).map(({ metadata }) => metadata.name);
  return { clock, nominations, put, kept, pods: names.map((name) => put(name)) };
}

describe('the places on a node that is on its way', () => {
  it('are kept for the pods of all plans that spoke of it', () => {
    const { nominations, put, kept, pods } = setUp('a', 'b');
    nominations.nominate('nodeclaim/c', pods);
    nominations.nominate('nodeclaim/c', [put('d')]);
    expect(kept()).toEqual(['a', 'b', 'd']);
  });

  it('are not kept for pods that have found a node', () => {
    const { nominations, put, kept, pods } = setUp('a', 'b');
    nominations.nominate('nodeclaim/c', pods);
    put('a', 'somewhere');
    expect(kept()).toEqual(['b']);
  });

  it('are kept until the node is open and the cache has had time to show who is on it', async () => {
    const { clock, nominations, kept, pods } = setUp('a');
    nominations.nominate('nodeclaim/c', pods);
    await clock.advance(60_000);
    expect(kept()).toEqual(['a']);
    nominations.opened(CLAIM);
    await clock.advance(2999);
    expect(kept()).toEqual(['a']);
    await clock.advance(1);
    expect(kept()).toEqual([]);
  });

  it('are not kept on a node that was opened while the plan was made that gives them away', async () => {
    const { clock, nominations, put, kept, pods } = setUp('a');
    nominations.nominate('nodeclaim/c', pods);
    nominations.opened(CLAIM);
    nominations.nominate('nodeclaim/c', [put('b')]);
    expect(kept()).toEqual(['a', 'b']);
    await clock.advance(3000);
    expect(kept()).toEqual([]);
  });
});

describe('nodes that are kept for pods', () => {
  const NODE = { name: 'n' };

  it('are free when these have come, or are elsewhere, and nobody has been on the way for three seconds', async () => {
    const { clock, nominations, put, pods } = setUp('a', 'b');
    nominations.nominate('n', pods);
    await clock.advance(5000);
    put('a', 'n');
    await clock.advance(5000);
    expect(nominations.has(NODE)).toBe(true);
    put('b', 'elsewhere');
    await clock.advance(2999);
    expect(nominations.has(NODE)).toBe(true);
    await clock.advance(1);
    expect(nominations.has(NODE)).toBe(false);
  });

  it('are kept for twenty seconds while others are on the way, who may come in their stead', async () => {
    const { clock, nominations, put, pods } = setUp('a');
    put('other');
    nominations.nominate('n', pods);
    put('a', 'elsewhere');
    await clock.advance(19_999);
    expect(nominations.has(NODE)).toBe(true);
    await clock.advance(1);
    expect(nominations.has(NODE)).toBe(false);
  });

  it('are kept for as long as these wait, up to ten minutes', async () => {
    const { clock, nominations, put } = setUp();
    nominations.nominate('n', [put('a', 'old')]);
    await clock.advance(599_999);
    expect(nominations.has(NODE)).toBe(true);
    await clock.advance(1);
    expect(nominations.has(NODE)).toBe(false);
  });

  it('are free when these stay where they are after all', async () => {
    const { clock, nominations, put } = setUp();
    const [a, b] = [put('a', 'old'), put('b', 'older')];
    nominations.nominate('n', [a, b]);
    nominations.nominate('m', [a]);
    await clock.advance(3000);
    nominations.withdraw([a]);
    expect(nominations.has({ name: 'm' })).toBe(false);
    expect(nominations.placeOf(a)).toBeUndefined();
    expect(nominations.has(NODE)).toBe(true);
    nominations.withdraw([b]);
    expect(nominations.has(NODE)).toBe(false);
  });

  it('are those that have only just come up, while pods that they were made for may be on the way', async () => {
    const { clock, nominations, put } = setUp();
    const lastTransitionTime = toTimestamp(clock.now());
    const conditions = [{ type: 'Initialized', status: 'True', lastTransitionTime }];
    const state = { name: 'n', claim: { ...CLAIM, status: { conditions } } as unknown as NodeClaim };
    put('a');
    await clock.advance(5000);
    expect(nominations.has(state)).toBe(true);
    put('a', 'n');
    await clock.advance(3000);
    expect(nominations.has(state)).toBe(false);
  });

  it('are forgotten after ten minutes, also those that nobody asks for because they never came', async () => {
    const { clock, nominations, pods } = setUp('a');
    for (const node of ['nodeclaim/c', 'nodeclaim/d', 'e']) nominations.nominate(node, pods);
    await clock.advance(300_000);
    nominations.nominate('nodeclaim/c', pods);
    await clock.advance(300_000);
    nominations.nominate('f', pods);
    expect(nominations.size).toBe(2);
    expect(nominations.waitingFor(CLAIM)).toEqual(pods);
  });
});
