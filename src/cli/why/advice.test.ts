import { describe, expect, it } from 'vitest';
import { amountText } from '../../engine/explain/amounts.ts';
import type { NearestMiss, NeededChange } from '../../engine/solution.ts';
import { adviceText, missText } from './advice.ts';

const miss = (change: NeededChange): NearestMiss => ({
  pool: 'general',
  instanceType: 'm5.large',
  zone: 'sim-1a',
  capacityType: 'spot',
  constraint: 'requirements',
  change,
});

describe('what came closest', () => {
  it.each<[NeededChange, string, string]>([
    [
      { kind: 'label', key: 'disk', wanted: 'In ssd, nvme', actual: undefined, offered: [] },
      'has no disk, the pod wants ssd or nvme',
      'give the nodes of pool general that label, under spec.template.metadata.labels, or remove disk from the node selector and affinity of the pod',
    ],
    [
      { kind: 'label', key: 'disk', wanted: 'NotIn hdd', actual: 'hdd', offered: ['hdd'] },
      'has disk hdd, the pod wants anything but hdd',
      'let the pod accept what pool general has of disk (hdd), or widen the requirements of the pool',
    ],
    [
      { kind: 'label', key: 'karpenter.sh/nodepool', wanted: 'In gpu', actual: 'general', offered: ['general'] },
      'the pod wants gpu',
      'let the pod accept pool general, or create the NodePool that it wants',
    ],
    [
      { kind: 'resource', resource: 'nvidia.com/gpu', requested: 1, available: 0 },
      'has 0 nvidia.com/gpu for pods, the pod asks for 1',
      'let pool general use instance types that have nvidia.com/gpu',
    ],
    [
      { kind: 'resource', resource: 'memory', requested: 12 * 1024 ** 3, available: 7.25 * 1024 ** 3 },
      'has 7.25Gi memory for pods, the pod asks for 12Gi',
      'lower the pod’s request of memory to 7.25Gi or less',
    ],
    [
      { kind: 'limit', pool: 'general', resource: 'cpu', missing: 1500 },
      'would exceed the limit on cpu of pool general by 1.5',
      'raise spec.limits.cpu of pool general by 1.5',
    ],
    [{ kind: 'offering', what: 'no-slots' }, 'has no free slot in its reservation', 'allow spot or on-demand'],
    [{ kind: 'offering', what: 'unhealthy' }, 'is unavailable for now', 'wait, or let pool general use more'],
    [{ kind: 'min-values', key: 'family', wanted: 3, actual: 1 }, 'asks for 3', 'lower minValues of family'],
    [
      { kind: 'topology', rule: 'spread', topologyKey: 'zone' },
      'its spread over zone does not allow it',
      'loosen the spread of the pod',
    ],
    [
      { kind: 'topology', rule: 'affinity', topologyKey: 'zone' },
      'no running pod matches its pod affinity over zone yet',
      'start a pod that matches the affinity first',
    ],
    [
      { kind: 'daemon', daemon: 'ops/logs', topologyKey: 'host', avoidedBy: 'pod' },
      'gets a pod of DaemonSet ops/logs, and the anti-affinity of the pod over host keeps the two apart',
      'loosen the anti-affinity of the pod, or give a pool a taint that the pod tolerates and DaemonSet ops/logs does not',
    ],
    [
      { kind: 'daemon', daemon: 'ops/logs', topologyKey: 'host', avoidedBy: 'daemon' },
      'the anti-affinity of the DaemonSet over host keeps the two apart',
      'loosen the anti-affinity of DaemonSet ops/logs',
    ],
    [{ kind: 'nothing-to-buy' }, 'matches none of the pod’s node affinity terms', 'loosen the node affinity'],
  ])('for %j says what it lacks and what to do', (change, lacks, advice) => {
    expect(missText(miss(change))).toContain(lacks);
    expect(adviceText(miss(change))).toContain(advice);
  });
});

describe('amounts', () => {
  it('are in units that people read', () => {
    expect(amountText('cpu', 250)).toBe('0.25');
    expect(amountText('memory', 512 * 1024 ** 2)).toBe('512Mi');
    expect(amountText('memory', 100)).toBe('100');
    expect(amountText('nvidia.com/gpu', 8)).toBe('8');
  });
});

describe('the advice for a spread', () => {
  const blocked = (sold: boolean): NearestMiss =>
    miss({
      kind: 'topology',
      rule: 'spread',
      topologyKey: 'topology.kubernetes.io/zone',
      maxSkew: 1,
      podsHere: 3,
      domains: [{ domain: 'zone-a', pods: 0, nodes: ['node-1'], nodeCount: 1, sold }],
    });

  it('does not ask for more zones when the zones that count are those where no pool sells anything', () => {
    expect(adviceText(blocked(false))).toBe(
      'no pool can launch a node in zone-a: remove node-1 or make room there, or keep these out of the spread by a node affinity of the pod on topology.kubernetes.io/zone, or loosen it (a larger maxSkew, or whenUnsatisfiable: ScheduleAnyway)',
    );
  });

  it('asks to let the pod use the zones that a pool sells', () => {
    expect(adviceText(blocked(true))).toMatch(/^let the pod and pool general use zone-a, or loosen the spread/);
  });
});
