import { describe, expect, it } from 'vitest';
import { finish } from '../packing/work.ts';
import { aPod, aProblem, GIB, oneOf, ZONE } from '../testkit/builders.ts';
import { gatherClasses } from './pod-classes.ts';

const gathered = (...pods: ReturnType<typeof aPod>[]) => finish(gatherClasses(aProblem({ pods })));

describe('classes of pods', () => {
  it('hold all pods that are alike, wherever they are in the problem', () => {
    const { members } = gathered(
      aPod({ name: 'a', count: 2, labels: { app: 'x', tier: 'y' } }),
      aPod({ name: 'b', requests: { cpu: 500, memory: GIB } }),
      aPod({ name: 'c', labels: { tier: 'y', app: 'x' }, requests: { memory: GIB, cpu: 1000 } }),
    );
    expect(members.map(({ pods }) => [...pods]).sort()).toEqual([[0, 1, 3], [2]]);
  });

  it('are of one kind when only their requests differ, and of one size when nothing else is the same', () => {
    const [plain, large, bound] = [
      aPod(),
      aPod({ requests: { cpu: 2000, memory: GIB } }),
      aPod({ requirements: [[oneOf(ZONE, 'a')]], labels: { app: 'x' } }),
    ];
    const { members, kinds, sizes } = gathered(plain, large, bound);
    const of = (pod: object) => members.find(({ group }) => group === pod)!;
    expect(of(plain).kind).toBe(of(large).kind);
    expect(of(plain).size).toBe(of(bound).size);
    expect([kinds.length, sizes.length]).toEqual([2, 2]);
    for (const member of members) {
      expect(sizes[member.size]!.requests).toEqual(member.group.requests);
      expect(kinds[member.kind]!.requirements).toEqual(member.group.requirements);
    }
  });

  it('differ in size by the volumes they attach', () => {
    const { members, sizes } = gathered(aPod(), aPod({ volumeAttachments: { driver: 1 } }));
    expect(members).toHaveLength(2);
    expect(sizes).toHaveLength(2);
  });

  it('come in the same order however the pods are ordered', () => {
    const pods = ['b', 'a', 'c'].flatMap((app) =>
      [200, 100].map((cpu) => aPod({ labels: { app }, requests: { cpu, memory: GIB } })),
    );
    const order = (list: typeof pods) => gathered(...list).members.map(({ group }) => group);
    expect(order(pods.toReversed())).toEqual(order(pods));
  });
});
