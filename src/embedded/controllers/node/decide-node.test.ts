import { describe, expect, it } from 'vitest';
import type { Taint } from '../../../apis/kubernetes/node.ts';
import type { Toleration } from '../../../apis/kubernetes/pod.ts';
import { type EpochMs, toTimestamp } from '../../../platform/clock.ts';
import { aNode } from '../../testkit/objects.ts';
import { decideNode } from './decide-node.ts';
import { evictionTime } from './eviction-time.ts';

const T0 = 1_893_456_000_000;
const TIMES = { graceMs: 40_000, startupGraceMs: 60_000 };
const node = (status: 'True' | 'False' | 'Unknown' | undefined, heartbeat = T0) => {
  const bare = aNode('n');
  const conditions =
    status === undefined ? [] : [{ type: 'Ready', status, lastHeartbeatTime: toTimestamp(heartbeat as EpochMs) }];
  return {
    ...bare,
    metadata: { ...bare.metadata, creationTimestamp: toTimestamp(T0 as EpochMs) },
    status: { ...bare.status, conditions },
  };
};
const names = (taints: readonly Taint[] | undefined): string[] | undefined =>
  taints?.map(({ key, effect }) => `${key.split('/')[1]}:${effect}`);

describe('the control plane', () => {
  it('believes a node as long as its lease or its last report is fresh', () => {
    expect(decideNode(node('True'), T0, T0 + 39_999, TIMES)).toEqual({ ready: true, silentAt: T0 + 40_000 });
    expect(decideNode(node('True', T0 + 20_000), T0, T0 + 50_000, TIMES)).toEqual({
      ready: true,
      silentAt: T0 + 60_000,
    });
  });

  it('takes a node for lost when neither is', () => {
    const plan = decideNode(node('True'), T0, T0 + 40_000, TIMES);
    expect(plan.ready).toBe(false);
    expect(plan.conditions?.map(({ type, status }) => `${type} ${status}`)).toContain('Ready Unknown');
    expect(names(plan.taints)).toEqual(['unreachable:NoSchedule', 'unreachable:NoExecute']);
  });

  it('gives a new node time to speak, and lets nobody on it until then', () => {
    const young = decideNode(node(undefined), undefined, T0 + 59_999, TIMES);
    expect([young.conditions, names(young.taints)]).toEqual([undefined, ['not-ready:NoSchedule']]);
    const silent = decideNode(node(undefined), undefined, T0 + 60_000, TIMES);
    expect(silent.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ reason: 'NodeStatusNeverUpdated' });
  });

  it('keeps the time of a taint that stays', () => {
    const before = {
      ...node('False'),
      spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute', timeAdded: 'then' } as Taint] },
    };
    const { taints } = decideNode(before, T0, T0 + 1000, TIMES);
    expect(taints?.find(({ effect }) => effect === 'NoExecute')?.timeAdded).toBe('then');
  });
});

describe('the time a pod may stay on a tainted node', () => {
  const taint = (key: string): Taint => ({ key, effect: 'NoExecute', timeAdded: toTimestamp(T0 as EpochMs) });
  const tolerate = (key: string, tolerationSeconds?: number): Toleration => ({
    key,
    operator: 'Exists',
    ...(tolerationSeconds !== undefined && { tolerationSeconds }),
  });

  it.each<[string, Taint[], Toleration[], number | undefined]>([
    ['is without end where there is no such taint', [{ key: 'a', effect: 'NoSchedule' }], [], undefined],
    ['is over where one taint is not tolerated', [taint('a'), taint('b')], [tolerate('a')], 0],
    ['is without end where tolerations say no time', [taint('a')], [tolerate('a')], undefined],
    [
      'is the shortest of those that are said',
      [taint('a'), taint('b')],
      [tolerate('a', 60), tolerate('b', 30)],
      T0 + 30_000,
    ],
    ['is over at once where a toleration says zero', [taint('a')], [tolerate('a', 0)], T0],
  ])('%s', (_, taints, tolerations, expected) => {
    expect(evictionTime(taints, tolerations)).toBe(expected);
  });
});
