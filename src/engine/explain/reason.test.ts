import { describe, expect, it } from 'vitest';
import type { Problem } from '../problem.ts';
import type { UnplacedReason } from '../solution.ts';
import { solve } from '../solve.ts';
import { aNode, aPod, aPool, aProblem, aType, INSTANCE_TYPE, onDemand, oneOf, ZONE } from '../testkit/builders.ts';
import { reasonSentence } from './sentence.ts';

function reason(problem: Problem): UnplacedReason {
  const { unplaced } = solve(problem, { quality: 'fast' });
  expect(unplaced).toHaveLength(1);
  return unplaced[0]!.reason;
}

describe('the reason why a pod has no place', () => {
  it('counts the offerings each constraint left, and names the nearest miss', () => {
    const small = aType({
      name: 'small',
      capacity: { cpu: 2000, memory: 2 ** 33, pods: 9 },
      offerings: onDemand(0.5, 'a', 'b'),
    });
    const pods = [aPod({ requests: { cpu: 6000 }, requirements: [[oneOf(ZONE, 'a', 'b')]] })];
    const why = reason(aProblem({ pods, instanceTypes: [aType(), small] }));
    expect(why.offerings).toBe(5);
    expect(why.funnel.map(({ constraint, left }) => `${constraint} ${left}`)).toEqual([
      'healthy 5',
      'instance-type-of-pool 5',
      'taints 5',
      'requirements 4',
      'volume-zone 4',
      'resources 0',
    ]);
    expect(why.nearest).toMatchObject({
      instanceType: aType().name,
      constraint: 'resources',
      change: { kind: 'resource', resource: 'cpu', requested: 6000, available: 4000 },
    });
  });

  it('tells the resource that is missing most, not one that a larger machine would have', () => {
    const tiny = aType({
      name: 'tiny',
      capacity: { cpu: 900, memory: 2 ** 33, pods: 9 },
      offerings: onDemand(0.1, 'a'),
    });
    const pods = [aPod({ requests: { cpu: 1000, 'nvidia.com/gpu': 1 } })];
    const why = reason(aProblem({ pods, instanceTypes: [tiny, aType()] }));
    expect(why.nearest).toMatchObject({
      instanceType: aType().name,
      change: { kind: 'resource', resource: 'nvidia.com/gpu', requested: 1, available: 0 },
    });
  });

  it('says amounts in units that people read', () => {
    const pods = [aPod({ requests: { cpu: 500, memory: 100 * 2 ** 40 } })];
    expect(reasonSentence(reason(aProblem({ pods })))).toMatch(/it has \d+Gi memory for pods, 100Ti would be needed$/);
  });

  it('names values that the pool has of a label, those written most alike first', () => {
    const offered = (wanted: string): readonly string[] => {
      const pods = [aPod({ requirements: [[oneOf(INSTANCE_TYPE, wanted)]] })];
      const instanceTypes = ['m5.xlarge', 'c5.large', 'm5.large'].map((name) => aType({ name }));
      const { change } = reason(aProblem({ pods, instanceTypes })).nearest ?? {};
      return change?.kind === 'label' ? change.offered : [];
    };
    expect(offered('m5.larg')).toEqual(['m5.large', 'c5.large', 'm5.xlarge']);
  });

  it('names an instance type as its nodes are labelled, not as the problem tells it from others', () => {
    const renamed = aType({ name: 'class-b:large', labels: { [INSTANCE_TYPE]: 'large' } });
    const why = reason(aProblem({ pods: [aPod({ requests: { cpu: 1e6 } })], instanceTypes: [renamed] }));
    expect(why.nearest?.instanceType).toBe('large');
    expect(reasonSentence(why)).toContain('large');
    expect(reasonSentence(why)).not.toContain('class-b');
  });

  it('names the offering that lacks the fewest labels, however dear it is', () => {
    const far = aType({ name: 'far', labels: { disk: 'ssd' }, offerings: onDemand(9, 'b') });
    const pods = [aPod({ requirements: [[oneOf('disk', 'ssd'), oneOf(ZONE, 'z')]] })];
    const why = reason(aProblem({ pods, instanceTypes: [aType(), far] }));
    expect(why.nearest).toMatchObject({ instanceType: 'far', change: { kind: 'label', key: ZONE } });
  });

  it.each<[string, Partial<Problem>, object, string]>([
    [
      'a label',
      { pods: [aPod({ requirements: [[oneOf(ZONE, 'z')]] })] },
      { kind: 'label', key: ZONE, wanted: 'In z' },
      'topology.kubernetes.io/zone would have to be z, it is a',
    ],
    [
      'a taint',
      { pools: [aPool({ taints: [{ key: 'gpu', value: 'x', effect: 'NoSchedule' }] })] },
      { kind: 'taint', key: 'gpu' },
      'the taint gpu=x:NoSchedule would have to be tolerated',
    ],
    [
      'a limit',
      { pools: [aPool({ limits: { cpu: 1000 } })] },
      { kind: 'limit', resource: 'cpu', missing: 3000 },
      'the limit on cpu of pool default would have to be 3 higher',
    ],
    [
      'health',
      { instanceTypes: [aType({ offerings: [{ zone: 'a', capacityType: 'spot', price: 1, healthy: false }] })] },
      { kind: 'offering', what: 'unhealthy' },
      'it is unavailable for now',
    ],
    [
      'company',
      { pods: [aPod({ podAffinity: [{ topologyKey: ZONE, selector: { matchLabels: { app: 'nobody' } } }] })] },
      { kind: 'topology', rule: 'affinity', topologyKey: ZONE },
      'no running pod matches its pod affinity over topology.kubernetes.io/zone yet',
    ],
  ])('can be %s', (_, overrides, change, words) => {
    const why = reason(aProblem(overrides));
    expect(why.nearest?.change).toMatchObject(change);
    expect(reasonSentence(why)).toContain(words);
  });

  it('tells what existing nodes refused it for', () => {
    const nodes = [
      aNode({ name: 'full', free: { cpu: 0, memory: 0, pods: 0 } }),
      aNode({ name: 'far', labels: { [ZONE]: 'b' } }),
    ];
    const why = reason(
      aProblem({ pods: [aPod({ requirements: [[oneOf(ZONE, 'a')]] })], pools: [], instanceTypes: [], nodes }),
    );
    expect(why).toMatchObject({ nodes: 2, nodesRejectedBy: { resources: 1, requirements: 1 } });
    expect(reasonSentence(why)).toBe(
      '2 existing nodes refused it (1 by resources, 1 by requirements); no pool has offerings',
    );
  });
});

describe('a topology rule that leaves no place', () => {
  const spread = {
    topologyKey: ZONE,
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
    selector: { matchLabels: { app: 'web' } },
  } as const;
  const web = aPod({ labels: { app: 'web' }, topologySpread: [spread] });
  const full = { cpu: 0, memory: 0, pods: 0 };
  const bound = (node: string): NonNullable<Problem['boundPods']>[number] => ({
    node,
    namespace: 'default',
    labels: { app: 'web' },
  });

  it('names the zones with too few pods and the nodes that make them count', () => {
    const nodes = [
      aNode({ name: 'old-1', labels: { [ZONE]: 'zone-a' }, free: full }),
      aNode({ name: 'old-2', labels: { [ZONE]: 'zone-b' }, free: full }),
    ];
    const inCloud = ['a', 'b', 'c'].map((zone) => aNode({ name: `new-${zone}`, labels: { [ZONE]: zone }, free: full }));
    const boundPods = inCloud.map(({ name }) => bound(name));
    const why = reason(aProblem({ pods: [web], nodes: [...nodes, ...inCloud], boundPods }));
    expect(why.nearest?.change).toEqual({
      kind: 'topology',
      rule: 'spread',
      topologyKey: ZONE,
      maxSkew: 1,
      podsHere: 1,
      domains: [
        { domain: 'zone-a', pods: 0, nodes: ['old-1'], nodeCount: 1, sold: false },
        { domain: 'zone-b', pods: 0, nodes: ['old-2'], nodeCount: 1, sold: false },
      ],
    });
    expect(reasonSentence(why)).toContain(
      'it would exceed maxSkew 1 of its spread over topology.kubernetes.io/zone: this zone has 1 matching pod, while zone-a has 0 (it counts because of node old-1) and zone-b has 0 (it counts because of node old-2)',
    );
  });

  it('names the zones that an anti-affinity has filled', () => {
    const apart = aPod({
      labels: { app: 'web' },
      podAntiAffinity: [{ topologyKey: ZONE, selector: { matchLabels: { app: 'web' } } }],
    });
    const nodes = ['a', 'b', 'c'].map((zone) => aNode({ name: zone, labels: { [ZONE]: zone }, free: full }));
    const why = reason(aProblem({ pods: [apart], nodes, boundPods: nodes.map(({ name }) => bound(name)) }));
    expect(reasonSentence(why)).toContain('keeps it out of a, b and c, where conflicting pods run');
  });

  it('names the zone to which an affinity ties a pod', () => {
    const together = aPod({ podAffinity: [{ topologyKey: ZONE, selector: { matchLabels: { app: 'web' } } }] });
    const nodes = [aNode({ name: 'old-1', labels: { [ZONE]: 'zone-a' }, free: full })];
    const why = reason(aProblem({ pods: [together], nodes, boundPods: [bound('old-1')] }));
    expect(reasonSentence(why)).toContain('requires zone-a');
  });
});
