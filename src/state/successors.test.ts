import { describe, expect, it } from 'vitest';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { Successors } from './successors.ts';

function aPod(name: string, owner?: string, spec: object = {}): Pod {
  const ownerReferences =
    owner === undefined ? [] : [{ uid: owner, kind: 'ReplicaSet', name: owner, controller: true }];
  return {
    metadata: { name, uid: name, namespace: 'default', ownerReferences },
    spec: { containers: [], ...spec },
  } as never;
}

describe('places for pods that are still to come', () => {
  it('are each given to one pod of the same owner', () => {
    const successors = new Successors(new VirtualClock(), () => true);
    successors.expect('one', [aPod('w1', 'web'), aPod('w2', 'web'), aPod('d1', 'db')]);
    successors.expect('two', [aPod('w3', 'web')]);
    expect(['w4', 'w5', 'w6', 'w7'].map((name) => successors.take(aPod(name, 'web')))).toEqual([
      'one',
      'one',
      'two',
      undefined,
    ]);
    expect(successors.awaitedBy('one')).toBe(true);
    expect(successors.take(aPod('d2', 'db'))).toBe('one');
    expect(successors.awaitedBy('one')).toBe(false);
    expect(successors.awaitedBy('two')).toBe(false);
  });

  it('are not kept where one of the pods is made anew by nobody, or can be placed only by a scheduler', () => {
    const successors = new Successors(new VirtualClock(), () => true);
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    successors.expect('one', [aPod('w1', 'web'), aPod('d1', 'db', { volumes })]);
    successors.expect('two', [aPod('w2', 'web'), aPod('alone')]);
    expect(['one', 'two'].map((claim) => successors.awaitedBy(claim))).toEqual([false, false]);
    expect(successors.take(aPod('w3', 'web'))).toBeUndefined();
    expect(successors.take(aPod('alone'))).toBeUndefined();
  });

  it('tell where those will be that come after pods which are still there, without giving the places away', () => {
    const successors = new Successors(new VirtualClock(), () => true);
    const pods = [aPod('w1', 'web'), aPod('w2', 'web'), aPod('w3', 'web')];
    successors.expect('one', pods.slice(0, 2));
    for (let times = 0; times < 2; times++)
      expect([...successors.placesFor(pods)].map(([claim, here]) => [claim, here.length])).toEqual([['one', 2]]);
  });

  it('end when nobody is to come any more, or after half an hour', async () => {
    const clock = new VirtualClock();
    const successors = new Successors(clock, () => true);
    successors.expect('one', [aPod('w1', 'web')]);
    successors.expect('two', [aPod('w2', 'web')]);
    successors.forget('one');
    expect(successors.awaitedBy('one')).toBe(false);
    expect(successors.awaitedBy('two')).toBe(true);
    await clock.advance(30 * 60_000);
    expect(successors.awaitedBy('two')).toBe(false);
    expect(successors.take(aPod('w3', 'web'))).toBeUndefined();
  });

  it('are kept for as long as what the pods leave still goes, but the node is closed for no longer than ten minutes', async () => {
    const clock = new VirtualClock();
    const going = new Set(['old', 'older']);
    const successors = new Successors(clock, (claim) => going.has(claim));
    successors.expect('one', [aPod('w1', 'web')], ['old', 'older']);
    expect(successors.keepsClosed('one')).toBe(true);
    await clock.advance(10 * 60_000);
    expect(successors.keepsClosed('one')).toBe(false);
    going.delete('old');
    expect(successors.awaitedBy('one')).toBe(true);
    going.delete('older');
    expect(successors.awaitedBy('one')).toBe(false);
    expect(successors.take(aPod('w2', 'web'))).toBeUndefined();
  });
});
