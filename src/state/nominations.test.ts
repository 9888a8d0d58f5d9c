import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import { keyText, type ObjectKey } from '../apis/kubernetes/object.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { Nominations } from './nominations.ts';

const CLAIM = { metadata: { name: 'c' } } as NodeClaim;

function setUp(...names: string[]) {
  const clock = new VirtualClock();
  const cache = new Map<string, Pod>();
  const put = (name: string, nodeName?: string): Pod => {
    const metadata = { name, namespace: 'default', uid: `uid-${name}` };
    const spec = { containers: [], ...(nodeName === undefined ? {} : { nodeName }) };
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
    cache.set(keyText({ namespace: 'default', name }), pod);
    return pod;
  };
  const get = (key: ObjectKey | string) => cache.get(typeof key === 'string' ? key : keyText(key));
  const nominations = new Nominations({ clock, pods: { get } });
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
});

describe('nodes that are kept for pods', () => {
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
