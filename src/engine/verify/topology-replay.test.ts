import { describe, expect, it } from 'vitest';
import type { PodGroup, Problem, TopologySpread } from '../problem.ts';
import { brokenRules } from '../testkit/broken-rules.ts';
import { aNode, aPod, aPool, aProblem, aType, HOSTNAME, onDemand, oneOf, ZONE } from '../testkit/builders.ts';

const web = { app: 'web' };
const selectsWeb = { matchLabels: web };
/** One node for each entry: its zone and its pods. */
const nodes = (...placed: readonly (readonly [zone: string, ...pods: number[]])[]) => ({
  newNodes: placed.map(([zone, ...pods]) => ({ pods, buy: [`medium/${zone}/on-demand`] })),
});

describe('topology spread', () => {
  const spread = (overrides: Partial<TopologySpread> = {}): TopologySpread => ({
    topologyKey: ZONE,
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
    selector: selectsWeb,
    ...overrides,
  });
  const replicas = (count: number, overrides: Partial<TopologySpread> = {}, pod: Partial<PodGroup> = {}): Problem =>
    aProblem({ pods: [aPod({ count, labels: web, topologySpread: [spread(overrides)], ...pod })] });

  it('allows as many pods above the emptiest zone as maxSkew says', () => {
    expect(brokenRules(replicas(4), nodes(['a', 0, 3], ['b', 1], ['c', 2]))).toEqual([]);
    expect(brokenRules(replicas(2), nodes(['a', 0, 1]))).toEqual(['topology-spread']);
    expect(brokenRules(replicas(2, { maxSkew: 2 }), nodes(['a', 0, 1]))).toEqual([]);
  });

  it('is judged at each step, not at the end', () => {
    const plan = nodes(['a', 0, 3], ['b', 1], ['c', 2]);
    expect(brokenRules(replicas(4), { ...plan, order: [0, 3, 1, 2] })).toEqual(['topology-spread']);
  });

  it('counts a zone where a node could be made, and no other', () => {
    expect(brokenRules(replicas(3), nodes(['a', 0, 2], ['b', 1]))).toEqual(['topology-spread']);
    const twoZones = { ...replicas(3), instanceTypes: [aType({ offerings: onDemand(1, 'a', 'b') })] };
    expect(brokenRules(twoZones, nodes(['a', 0, 2], ['b', 1]))).toEqual([]);
    const unhealthy = aType({ name: 'ill', offerings: [{ ...onDemand(1, 'c')[0]!, healthy: false }] });
    const withIll = { ...twoZones, instanceTypes: [...twoZones.instanceTypes, unhealthy] };
    expect(brokenRules(withIll, nodes(['a', 0, 2], ['b', 1]))).toEqual([]);
  });

  it('counts the zone of a node that exists', () => {
    const twoZones = { ...replicas(3), instanceTypes: [aType({ offerings: onDemand(1, 'a', 'b') })] };
    const withNode = { ...twoZones, nodes: [aNode({ labels: { [ZONE]: 'z' } })] };
    expect(brokenRules(withNode, nodes(['a', 0, 2], ['b', 1]))).toEqual(['topology-spread']);
  });

  it('counts only zones and pods that the node affinity of the pod admits, unless told to ignore it', () => {
    const requirements = [[oneOf(ZONE, 'a', 'b')]];
    const plan = nodes(['a', 0, 2], ['b', 1]);
    expect(brokenRules(replicas(3, {}, { requirements }), plan)).toEqual([]);
    expect(brokenRules(replicas(3, { nodeAffinityPolicy: 'Ignore' }, { requirements }), plan)).toEqual([
      'topology-spread',
    ]);
  });

  it('counts tainted nodes, unless told to honor taints', () => {
    const taints = [{ key: 'k', effect: 'NoSchedule' as const }];
    const pools = [aPool({ requirements: [oneOf(ZONE, 'a', 'b')] }), aPool({ name: 'tainted', taints })];
    const plan = nodes(['a', 0, 2], ['b', 1]);
    expect(brokenRules({ ...replicas(3), pools }, plan)).toEqual(['topology-spread']);
    expect(brokenRules({ ...replicas(3, { nodeTaintsPolicy: 'Honor' }), pools }, plan)).toEqual([]);
  });

  it('takes the emptiest zone for empty while there are fewer zones than minDomains', () => {
    const plan = nodes(['a', 0, 3], ['b', 1], ['c', 2]);
    expect(brokenRules(replicas(4, { minDomains: 3 }), plan)).toEqual([]);
    expect(brokenRules(replicas(4, { minDomains: 4 }), plan)).toEqual(['topology-spread']);
  });

  it('counts pods that run already, and pods that are selected without carrying it', () => {
    const problem: Problem = {
      ...replicas(1),
      nodes: [aNode()],
      boundPods: [{ node: 'node-1', namespace: 'default', labels: web }],
    };
    expect(brokenRules(problem, nodes(['a', 0]))).toEqual(['topology-spread']);
    expect(brokenRules(problem, nodes(['b', 0]))).toEqual([]);
    const plain = aPod({ labels: web });
    const both = { ...replicas(1), pods: [...replicas(1).pods, plain] };
    expect(brokenRules(both, { ...nodes(['a', 0, 1]), order: [1, 0] })).toEqual(['topology-spread']);
    expect(brokenRules(both, { ...nodes(['a', 0, 1]), order: [0, 1] })).toEqual([]);
  });

  it('counts pods of its own namespace only', () => {
    const problem: Problem = {
      ...replicas(1),
      nodes: [aNode()],
      boundPods: [{ node: 'node-1', namespace: 'other', labels: web }],
    };
    expect(brokenRules(problem, nodes(['a', 0]))).toEqual([]);
  });

  it('does not count the pod itself when its selector selects others', () => {
    expect(brokenRules(replicas(2, { selector: { matchLabels: { app: 'db' } } }), nodes(['a', 0, 1]))).toEqual([]);
  });

  it('over hosts compares with an empty host, since one can always be made', () => {
    expect(brokenRules(replicas(2, { topologyKey: HOSTNAME }), nodes(['a', 0], ['a', 1]))).toEqual([]);
    expect(brokenRules(replicas(2, { topologyKey: HOSTNAME }), nodes(['a', 0, 1]))).toEqual(['topology-spread']);
  });

  it('needs a node that has the key', () => {
    expect(brokenRules(replicas(1, { topologyKey: 'rack' }), nodes(['a', 0]))).toEqual(['topology-spread']);
  });

  it('over a label that the pool leaves open needs a node that settles it', () => {
    const pools = [aPool({ requirements: [oneOf('rack', '1', '2')] })];
    const problem = { ...replicas(2, { topologyKey: 'rack' }), pools };
    const inRacks = (...racks: string[]) => ({
      newNodes: racks.map((rack, pod) => ({ pods: [pod], requirements: [oneOf('rack', ...rack.split(','))] })),
    });
    expect(brokenRules(problem, inRacks('1', '2'))).toEqual([]);
    expect(brokenRules(problem, inRacks('1', '1'))).toEqual(['topology-spread']);
    expect(brokenRules(problem, inRacks('1', '1,2'))).toEqual(['topology-spread']);
  });

  it('over a label for which the launch invents a value knows that value as a domain', () => {
    const pools = [aPool({ requirements: [{ key: 'rack', operator: 'Exists', values: [] }] })];
    const problem = { ...replicas(2, { topologyKey: 'rack' }), pools };
    const requirements = [oneOf('rack', 'new')];
    expect(brokenRules(problem, { newNodes: [{ pods: [0, 1], requirements }] })).toEqual([]);
    const other = [oneOf('rack', 'other')];
    const third = aPod({ labels: web });
    const uneven = { ...problem, pods: [third, ...problem.pods] };
    const plan = {
      newNodes: [
        { pods: [0], requirements: other },
        { pods: [1, 2], requirements },
      ],
    };
    expect(brokenRules(uneven, plan)).toEqual([]);
    expect(brokenRules(uneven, { ...plan, order: [1, 2, 0] })).toEqual([]);
    const nodes = [aNode({ labels: { rack: 'old' } })];
    expect(brokenRules({ ...problem, nodes }, { newNodes: [{ pods: [0, 1], requirements }] })).toEqual([
      'topology-spread',
    ]);
  });

  it('over two keys looks only at nodes and zones that have both', () => {
    const pools = [aPool({ labels: { rack: '1' }, requirements: [oneOf(ZONE, 'a', 'b')] }), aPool({ name: 'plain' })];
    const topologySpread = [spread(), spread({ topologyKey: 'rack', maxSkew: 9 })];
    const pods = [aPod({ count: 3, labels: web, topologySpread })];
    // Zone c is only in the pool without racks, so two pods in a and one in b are even enough.
    expect(brokenRules({ ...aProblem({ pods }), pools }, nodes(['a', 0, 2], ['b', 1]))).toEqual([]);
    const without = aPool({ name: 'without', requirements: [{ key: 'rack', operator: 'DoesNotExist', values: [] }] });
    const never = { ...aProblem({ pods }), pools: [...pools, without] };
    expect(brokenRules(never, nodes(['a', 0, 2], ['b', 1]))).toEqual([]);
    const plain = aPod({ labels: web });
    const onPlain = {
      newNodes: [
        { pods: [3], pool: 'plain', buy: ['medium/b/on-demand'] },
        { pods: [0, 1], buy: ['medium/a/on-demand'] },
        { pods: [2], buy: ['medium/b/on-demand'] },
      ],
      order: [3, 0, 1, 2],
    };
    expect(brokenRules({ ...aProblem({ pods: [...pods, plain] }), pools }, onPlain)).toEqual(['topology-spread']);
  });

  it('that is only wished for is not judged', () => {
    expect(brokenRules(replicas(2, { whenUnsatisfiable: 'ScheduleAnyway' }), nodes(['a', 0, 1]))).toEqual([]);
  });
});

describe('pod affinity', () => {
  const follower = (selector = selectsWeb): PodGroup =>
    aPod({ labels: { app: 'follower' }, podAffinity: [{ topologyKey: ZONE, selector }] });

  it('wants a selected pod in the same zone', () => {
    const problem = aProblem({ pods: [aPod({ labels: web }), follower()] });
    expect(brokenRules(problem, nodes(['a', 0], ['a', 1]))).toEqual([]);
    expect(brokenRules(problem, nodes(['a', 0], ['b', 1]))).toEqual(['pod-affinity']);
    expect(brokenRules(problem, { ...nodes(['a', 0], ['a', 1]), order: [1, 0] })).toEqual(['pod-affinity']);
  });

  it('lets the first of a group that selects itself start anywhere, and the others follow', () => {
    const group = aProblem({
      pods: [aPod({ count: 2, labels: web, podAffinity: [{ topologyKey: ZONE, selector: selectsWeb }] })],
    });
    expect(brokenRules(group, nodes(['b', 0], ['b', 1]))).toEqual([]);
    expect(brokenRules(group, nodes(['a', 0], ['b', 1]))).toEqual(['pod-affinity']);
  });

  it('does not let a group start anew when a selected pod runs already', () => {
    const problem = aProblem({
      pods: [aPod({ labels: web, podAffinity: [{ topologyKey: ZONE, selector: selectsWeb }] })],
      nodes: [aNode()],
      boundPods: [{ node: 'node-1', namespace: 'default', labels: web }],
    });
    expect(brokenRules(problem, nodes(['b', 0]))).toEqual(['pod-affinity']);
    expect(brokenRules(problem, nodes(['a', 0]))).toEqual([]);
  });

  it('with two terms wants pods that match both', () => {
    const terms = [
      { topologyKey: ZONE, selector: selectsWeb },
      { topologyKey: ZONE, selector: { matchLabels: { tier: 'front' } } },
    ];
    const both = aPod({ labels: { ...web, tier: 'front' } });
    const apart = [aPod({ labels: web }), aPod({ labels: { tier: 'front' } })];
    const wanting = aPod({ labels: { app: 'x' }, podAffinity: terms });
    expect(brokenRules(aProblem({ pods: [both, wanting] }), nodes(['a', 0, 1]))).toEqual([]);
    expect(brokenRules(aProblem({ pods: [...apart, wanting] }), nodes(['a', 0, 1, 2]))).toEqual(['pod-affinity']);
  });

  it('looks into its own namespace, the named ones, or those that a selector selects', () => {
    const term = { topologyKey: ZONE, selector: selectsWeb };
    const judge = (more: object) =>
      brokenRules(
        aProblem({
          pods: [aPod({ labels: web, namespace: 'shop' }), aPod({ podAffinity: [{ ...term, ...more }] })],
          namespaces: { shop: { team: 'red' } },
        }),
        nodes(['a', 0, 1]),
      );
    expect(judge({})).toEqual(['pod-affinity']);
    expect(judge({ namespaces: ['shop'] })).toEqual([]);
    expect(judge({ namespaces: ['default'] })).toEqual(['pod-affinity']);
    expect(judge({ namespaceSelector: { matchLabels: { team: 'red' } } })).toEqual([]);
    expect(judge({ namespaceSelector: { matchLabels: { team: 'blue' } } })).toEqual(['pod-affinity']);
    expect(judge({ namespaceSelector: {} })).toEqual([]);
  });
});

describe('pod anti-affinity', () => {
  const loner = (topologyKey = HOSTNAME): PodGroup =>
    aPod({ labels: { app: 'loner' }, podAntiAffinity: [{ topologyKey, selector: selectsWeb }] });

  it('keeps a pod away from those it selects', () => {
    const problem = aProblem({ pods: [aPod({ labels: web }), loner()] });
    expect(brokenRules(problem, nodes(['a', 0, 1]))).toEqual(['pod-anti-affinity']);
    expect(brokenRules(problem, nodes(['a', 0], ['a', 1]))).toEqual([]);
  });

  it('keeps those it selects away from the pod that came first', () => {
    const problem = aProblem({ pods: [loner(), aPod({ labels: web })] });
    expect(brokenRules(problem, nodes(['a', 0, 1]))).toEqual(['pod-anti-affinity']);
  });

  it('works over zones as over hosts', () => {
    const problem = aProblem({ pods: [aPod({ labels: web }), loner(ZONE)] });
    expect(brokenRules(problem, nodes(['a', 0], ['a', 1]))).toEqual(['pod-anti-affinity']);
    expect(brokenRules(problem, nodes(['a', 0], ['b', 1]))).toEqual([]);
  });

  it('of a pod that runs keeps others away, and pods that run keep it away', () => {
    const existing = { existing: [{ node: 'node-1', pods: [0] }] };
    const avoided = aProblem({
      pods: [aPod({ labels: web })],
      nodes: [aNode()],
      boundPods: [
        { node: 'node-1', namespace: 'default', podAntiAffinity: [{ topologyKey: HOSTNAME, selector: selectsWeb }] },
      ],
    });
    expect(brokenRules(avoided, existing)).toEqual(['pod-anti-affinity']);
    expect(brokenRules({ ...avoided, pods: [aPod()] }, existing)).toEqual([]);
    const avoiding = aProblem({
      pods: [loner()],
      nodes: [aNode()],
      boundPods: [{ node: 'node-1', namespace: 'default', labels: web }],
    });
    expect(brokenRules(avoiding, existing)).toEqual(['pod-anti-affinity']);
  });

  it('keeps pods away from one that ends, which no spread counts any more', () => {
    const ending = { node: 'node-1', namespace: 'default', labels: web, ending: true };
    const topologySpread = [
      { topologyKey: HOSTNAME, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const, selector: selectsWeb },
    ];
    const beside = (pod: PodGroup, bound: object) =>
      brokenRules(aProblem({ pods: [pod], nodes: [aNode()], boundPods: [{ ...ending, ...bound }] }), {
        existing: [{ node: 'node-1', pods: [0] }],
      });
    expect(beside(loner(), {})).toEqual(['pod-anti-affinity']);
    expect(beside(aPod({ labels: web, topologySpread }), {})).toEqual([]);
    expect(beside(aPod({ labels: web, topologySpread }), { ending: false })).toEqual(['topology-spread']);
  });

  it('does not hold between pods that merely carry it', () => {
    expect(brokenRules(aProblem({ pods: [loner(), loner()] }), nodes(['a', 0, 1]))).toEqual([]);
  });
});
