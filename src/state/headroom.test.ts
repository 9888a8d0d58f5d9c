import { describe, expect, it } from 'vitest';
import type { CapacityBuffer } from '../apis/autoscaling/capacity-buffer.ts';
import type { Presence } from '../kube/optional-informer.ts';
import { Headroom } from './headroom.ts';
import { aPodAsking, aStateNode } from './testkit/a-state-node.ts';

const buffer = { metadata: { namespace: 'default', name: 'spare' } } as CapacityBuffer;
const KEY = 'default/spare';
const aHeadroom = (presence: Presence = 'read', buffers = [buffer]) => new Headroom({ presence, list: () => buffers });
const PODS = ['one', 'two'].map((name) => aPodAsking(name, { cpu: '1' }));
const [ONE, TWO] = PODS as [(typeof PODS)[0], (typeof PODS)[0]];
const place = (name: string) => `nodeclaim/${name}`;
const node = aStateNode({ name: 'a' });

describe('headroom', () => {
  it('is not known before all buffers are read and placed, unless there is no such kind', () => {
    expect(aHeadroom('missing').isKnown).toBe(true);
    expect(aHeadroom('unknown').isKnown).toBe(false);
    const headroom = aHeadroom();
    expect(headroom.isKnown).toBe(false);
    headroom.set(KEY, PODS);
    expect(headroom.isKnown).toBe(false);
    headroom.place(PODS, { placed: new Map([[place('a'), PODS]]), unplaced: new Map() });
    expect(headroom.isKnown).toBe(true);
  });

  it('is not waited for without end where buffers cannot be read', () => {
    let elapsed = 0;
    const headroom = new Headroom({ presence: 'unknown', list: () => [] }, { elapsed: () => elapsed });
    expect(headroom.isKnown).toBe(false);
    elapsed = 120_000;
    expect(headroom.isKnown).toBe(true);
  });

  it('is on the node of a claim before and after it has joined', () => {
    const headroom = aHeadroom();
    headroom.set(KEY, PODS);
    headroom.place(PODS, { placed: new Map([[place('a'), PODS]]), unplaced: new Map() });
    expect(headroom.on(node)).toEqual(PODS);
    expect(headroom.on({ name: place('a'), claim: node.claim })).toEqual(PODS);
    expect(headroom.on(aStateNode({ name: 'b' }))).toEqual([]);
  });

  it('is given up at once with the buffer, or with some of its pods', () => {
    const headroom = aHeadroom();
    headroom.set(KEY, PODS);
    headroom.place(PODS, { placed: new Map([[place('a'), PODS]]), unplaced: new Map() });
    headroom.set(KEY, [ONE]);
    expect(headroom.on(node)).toEqual([ONE]);
    expect(headroom.isKnown).toBe(true);
    headroom.delete(KEY);
    expect(headroom.on(node)).toEqual([]);
    expect(headroom.isEmpty).toBe(true);
  });

  it('is known again when a buffer goes before any round has placed its pods', () => {
    const buffers = [buffer];
    const headroom = aHeadroom('read', buffers);
    headroom.set(KEY, PODS);
    expect(headroom.isKnown).toBe(false);
    headroom.set(KEY, []);
    expect(headroom.isKnown).toBe(true);
    headroom.set(KEY, [ONE]);
    buffers.pop();
    headroom.delete(KEY);
    expect(headroom.isKnown).toBe(true);
  });

  it('calls for a round where pods are new, and not where they are fewer or the same', () => {
    const headroom = aHeadroom();
    let rounds = 0;
    headroom.onPods(() => rounds++);
    headroom.set(KEY, [ONE]);
    headroom.set(KEY, [ONE]);
    headroom.set(KEY, [ONE, TWO]);
    headroom.set(KEY, [ONE]);
    expect(rounds).toBe(2);
  });

  it('says why pods have no room', () => {
    const headroom = aHeadroom();
    headroom.set(KEY, PODS);
    headroom.place(PODS, {
      placed: new Map([[place('a'), [ONE]]]),
      unplaced: new Map([[TWO, 'the limits are used up']]),
    });
    expect(headroom.placesOf(KEY)).toEqual({
      ...{ placed: new Map([[place('a'), [ONE]]]), unplaced: [TWO] },
      why: 'the limits are used up',
    });
  });
});
