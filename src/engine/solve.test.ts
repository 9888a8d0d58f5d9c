import { describe, expect, it } from 'vitest';
import type { Problem } from './problem.ts';
import type { Solution } from './solution.ts';
import { solve } from './solve.ts';
import { aNode, aPod, aPool, aProblem, aType, GIB, HOSTNAME, onDemand, oneOf, ZONE } from './testkit/builders.ts';
import { verify } from './verify/verify.ts';

const CAPACITY_TYPE = 'karpenter.sh/capacity-type';

function solved(problem: Problem): Solution {
  const solution = solve(problem, { maxSteps: 50_000 });
  expect(verify(problem, solution)).toEqual([]);
  return solution;
}

const zonesOf = (solution: Solution): string[] => solution.newNodes.map((node) => node.offerings[0]!.zone).sort();
const typesOf = (solution: Solution): string[] =>
  solution.newNodes.map((node) => node.offerings[0]!.instanceType).sort();
const placed = (solution: Solution): number => solution.order.length;

describe('sizes', () => {
  it('are no larger than the pods need', () => {
    const large = aType({
      name: 'large',
      capacity: { cpu: 64000, memory: 128 * GIB, pods: 100 },
      offerings: onDemand(17, 'a'),
    });
    expect(typesOf(solved(aProblem({ pods: [aPod({ count: 4 })], instanceTypes: [aType(), large] })))).toEqual([
      'medium',
    ]);
  });

  it('are large where that is cheaper', () => {
    const large = aType({
      name: 'large',
      capacity: { cpu: 64000, memory: 128 * GIB, pods: 100 },
      offerings: onDemand(10, 'a'),
    });
    expect(typesOf(solved(aProblem({ pods: [aPod({ count: 60 })], instanceTypes: [aType(), large] })))).toEqual([
      'large',
    ]);
  });

  it('match pods that want much cpu with pods that want much memory', () => {
    const pods = [
      aPod({ name: 'c', count: 20, requests: { cpu: 3000, memory: GIB } }),
      aPod({ name: 'm', count: 20, requests: { cpu: 1000, memory: 7 * GIB } }),
    ];
    expect(solved(aProblem({ pods })).newNodes).toHaveLength(20);
  });
});

describe('a type that goes by another name in the problem', () => {
  const key = 'node.kubernetes.io/instance-type';
  const named = (name: string, price: number, label: string) =>
    aType({ name, labels: { [key]: label }, offerings: onDemand(price, 'a') });

  it('is offered by its name in the problem and required by the name on its nodes', () => {
    const [node] = solved(aProblem({ instanceTypes: [named('east:medium', 1, 'medium')] })).newNodes;
    expect(node?.offerings[0]?.instanceType).toBe('east:medium');
    expect(node?.requirements).toContainEqual(oneOf(key, 'medium'));
  });

  it('counts once for minValues when two types share a name', () => {
    const pools = [aPool({ requirements: [{ key, operator: 'Exists', values: [], minValues: 2 }] })];
    const twins = [named('medium', 1, 'medium'), named('east:medium', 2, 'medium')];
    expect(solved(aProblem({ pools, instanceTypes: twins })).newNodes).toEqual([]);
    expect(solved(aProblem({ pools, instanceTypes: [...twins, named('other', 3, 'other')] })).newNodes).toHaveLength(1);
  });
});

describe('existing nodes', () => {
  it('are used before anything is bought, ready ones before those on their way', () => {
    const coming = aNode({ name: 'coming', inFlight: true });
    const solution = solved(aProblem({ pods: [aPod({ count: 5 })], nodes: [coming, aNode({ name: 'ready' })] }));
    expect(solution.existing.map(({ node, pods }) => [node, pods.length])).toEqual([
      ['ready', 4],
      ['coming', 1],
    ]);
    expect([solution.price, solution.gap]).toEqual([0, 0]);
  });

  it('that are about to go get nothing', () => {
    expect(solved(aProblem({ nodes: [aNode({ leaving: true })] })).existing).toEqual([]);
  });

  it('go to pods of higher priority when nothing can be bought', () => {
    const pods = [aPod({ name: 'low', count: 4 }), aPod({ name: 'high', count: 3, priority: 100 })];
    const solution = solved(aProblem({ pods, pools: [], instanceTypes: [], nodes: [aNode()] }));
    expect(solution.existing[0]?.pods.filter((pod) => pod >= 4)).toHaveLength(3);
    expect(solution.unplaced).toMatchObject([{ group: 0, pods: { length: 3 } }]);
  });
});

describe('pools', () => {
  it('of higher weight come first, whatever they cost, up to their limits', () => {
    const dear = aType({ name: 'dear', offerings: onDemand(5, 'a') });
    const pools = [
      aPool({ name: 'light', instanceTypes: ['medium'] }),
      aPool({ name: 'heavy', weight: 10, instanceTypes: ['dear'], limits: { cpu: 8000 } }),
    ];
    const solution = solved(aProblem({ pods: [aPod({ count: 12 })], pools, instanceTypes: [aType(), dear] }));
    expect(solution.newNodes.map((node) => node.pool).sort()).toEqual(['heavy', 'heavy', 'light']);
  });

  it('of higher weight leave to others the zones that they have not', () => {
    const pools = [aPool({ name: 'light' }), aPool({ name: 'heavy', weight: 10, requirements: [oneOf(ZONE, 'c')] })];
    const spread = { topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', selector: {} } as const;
    const pods = [aPod({ count: 7, requests: { cpu: 3000, memory: GIB }, topologySpread: [spread] })];
    const solution = solved(aProblem({ pods, pools }));
    expect(solution.newNodes.map((node) => `${node.pool} ${node.offerings[0]!.zone}`).sort()).toEqual([
      ...['heavy c', 'heavy c', 'heavy c'],
      ...['light a', 'light a', 'light b', 'light b'],
    ]);
  });

  it('count what they use already against their limits', () => {
    const pools = [aPool({ limits: { nodes: 3 }, usage: { nodes: 2 } })];
    const solution = solved(aProblem({ pods: [aPod({ count: 8 })], pools }));
    expect([solution.newNodes.length, placed(solution)]).toEqual([1, 4]);
  });

  it('have their last nodes in the zones that a spread asks for next', () => {
    const labels = { app: 'web' };
    const spread = {
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
      topologyKey: ZONE,
      selector: { matchLabels: labels },
    };
    const requests = { cpu: 3000, memory: GIB };
    const pods = [aPod({ count: 4, labels, requests, topologySpread: [spread as never] })];
    const nodes = ['a', 'c'].map((zone) => aNode({ name: zone, labels: { [ZONE]: zone }, free: {} }));
    const boundPods = nodes.map(({ name }) => ({ node: name, namespace: 'default', labels }));
    const pools = [aPool({ limits: { nodes: 3 }, usage: { nodes: 2 } })];
    const solution = solved(aProblem({ pods, pools, nodes, boundPods }));
    expect([zonesOf(solution), placed(solution)]).toEqual([['b'], 1]);
  });

  it('name no alternative that would exceed their limits', () => {
    const capacity = (cpu: number) => ({ cpu, memory: 16 * GIB, pods: 100 });
    const types = [4000, 8000, 16_000].map((cpu) =>
      aType({ name: `t${cpu}`, capacity: capacity(cpu), offerings: onDemand(cpu / 4000, 'a') }),
    );
    const named = (limits: Record<string, number>, count: number): string[][] => {
      const pods = [aPod({ count, requests: { cpu: 4000 } })];
      const solution = solved(aProblem({ pods, pools: [aPool({ limits })], instanceTypes: types }));
      return solution.newNodes.map(({ offerings }) => offerings.map(({ instanceType }) => instanceType));
    };
    expect(named({ cpu: 9000 }, 1)).toEqual([['t4000', 't8000']]);
    expect(named({ nodes: 1 }, 1)).toEqual([['t4000', 't8000', 't16000']]);
  });

  it('with taints take only pods that tolerate them; startup taints do not matter', () => {
    const taints = [{ key: 'gpu', effect: 'NoSchedule' as const }];
    expect(placed(solved(aProblem({ pools: [aPool({ taints })] })))).toBe(0);
    expect(placed(solved(aProblem({ pools: [aPool({ startupTaints: taints })] })))).toBe(1);
  });

  it('keep as many instance types open as they want', () => {
    const types = [4, 8, 16].map((cores) =>
      aType({
        name: `t${cores}`,
        capacity: { cpu: cores * 1000, memory: cores * 2 * GIB, pods: 100 },
        offerings: onDemand(cores / 4, 'a'),
      }),
    );
    const requirements = [
      { key: 'node.kubernetes.io/instance-type', operator: 'Exists' as const, values: [], minValues: 2 },
    ];
    const solution = solved(
      aProblem({ pods: [aPod({ count: 30 })], pools: [aPool({ requirements })], instanceTypes: types }),
    );
    expect(placed(solution)).toBe(30);
    for (const node of solution.newNodes) expect(node.requests.cpu).toBeLessThanOrEqual(8000);
  });

  it('give a label that they leave open one value for each node', () => {
    const pools = [aPool({ requirements: [oneOf('team', 'red', 'blue')] })];
    const pods = [
      aPod({ name: 'r', requirements: [[oneOf('team', 'red')]] }),
      aPod({ name: 'b', requirements: [[oneOf('team', 'blue')]] }),
    ];
    const solution = solved(aProblem({ pods, pools }));
    expect(solution.newNodes).toHaveLength(2);
  });
});

describe('reservations', () => {
  const reserved = (slots: number): Problem['instanceTypes'] => [
    aType({
      offerings: [
        ...onDemand(1, 'a'),
        { zone: 'a', capacityType: 'reserved', price: 0.001, reservationId: 'r', slots },
      ],
    }),
  ];

  it('are used first and never beyond their count, over all pools', () => {
    const pools = [aPool({ name: 'one' }), aPool({ name: 'two' })];
    const solution = solved(aProblem({ pods: [aPod({ count: 16 })], pools, instanceTypes: reserved(3) }));
    expect(solution.newNodes.map((node) => node.offerings[0]!.capacityType).sort()).toEqual([
      'on-demand',
      'reserved',
      'reserved',
      'reserved',
    ]);
  });

  it('that are full leave pools that want nothing else without a node', () => {
    const pools = [aPool({ capacityTypePolicy: 'reserved-only' })];
    const [unplaced] = solved(aProblem({ pools, instanceTypes: reserved(0) })).unplaced;
    expect(unplaced?.reason.nearest).toMatchObject({
      constraint: 'reservation-slots',
      change: { kind: 'offering', what: 'no-slots' },
    });
  });
});

describe('topology', () => {
  const app = { app: 'web' };
  const spread = (topologyKey: string, maxSkew = 1) => ({
    topologyKey,
    maxSkew,
    whenUnsatisfiable: 'DoNotSchedule' as const,
    selector: { matchLabels: app },
  });
  const term = (topologyKey: string) => ({ topologyKey, selector: { matchLabels: app } });

  it('spreads over zones, also those without a node yet', () => {
    const pods = [aPod({ count: 6, labels: app, topologySpread: [spread(ZONE)] })];
    expect(zonesOf(solved(aProblem({ pods })))).toEqual(['a', 'b', 'c']);
  });

  it('counts pods that run already', () => {
    const nodes = [aNode({ free: { cpu: 0, memory: 0, pods: 0 } })];
    const boundPods = [{ node: 'node-1', namespace: 'default', labels: app, count: 2 }];
    const pods = [aPod({ count: 4, labels: app, topologySpread: [spread(ZONE)] })];
    expect(zonesOf(solved(aProblem({ pods, nodes, boundPods })))).toEqual(['b', 'c']);
  });

  it('does not count pods that end, which still keep those away that avoid them', () => {
    const nodes = [aNode({ free: { cpu: 0, memory: 0, pods: 0 } })];
    const boundPods = [{ node: 'node-1', namespace: 'default', labels: app, count: 2, ending: true }];
    const topologySpread = [spread(ZONE)];
    const pods = [aPod({ count: 3, labels: app, topologySpread })];
    expect(zonesOf(solved(aProblem({ pods, nodes, boundPods })))).toEqual(['a', 'b', 'c']);
    const shy = [aPod({ labels: { app: 'shy' }, topologySpread, podAntiAffinity: [term(ZONE)] })];
    expect(zonesOf(solved(aProblem({ pods: shy, nodes, boundPods })))).not.toContain('a');
  });

  it('spreads over hosts', () => {
    const pods = [aPod({ count: 6, labels: app, topologySpread: [spread(HOSTNAME, 2)] })];
    expect(solved(aProblem({ pods })).newNodes).toHaveLength(3);
  });

  it('keeps pods with anti-affinity apart, and away from those that run already with it', () => {
    const pods = [aPod({ count: 3, labels: app, podAntiAffinity: [term(HOSTNAME)] })];
    expect(solved(aProblem({ pods })).newNodes).toHaveLength(3);
    const boundPods = [{ node: 'node-1', namespace: 'default', podAntiAffinity: [term(ZONE)] }];
    const visitor = [aPod({ labels: app })];
    expect(zonesOf(solved(aProblem({ pods: visitor, nodes: [aNode()], boundPods })))).not.toContain('a');
  });

  it('keeps pods with affinity together in one zone', () => {
    const pods = [aPod({ count: 9, labels: app, podAffinity: [term(ZONE)] })];
    expect(new Set(zonesOf(solved(aProblem({ pods }))))).toHaveLength(1);
  });

  it('follows a pod that another pod wants to be with', () => {
    const pods = [
      aPod({ name: 'follower', podAffinity: [term(ZONE)] }),
      aPod({ name: 'leader', labels: app, requirements: [[oneOf(ZONE, 'c')]] }),
    ];
    expect(new Set(zonesOf(solved(aProblem({ pods }))))).toEqual(new Set(['c']));
  });

  it('puts pods with affinity over the hostname on one node that holds them all', () => {
    const large = aType({
      name: 'large',
      capacity: { cpu: 16000, memory: 32 * GIB, pods: 100 },
      offerings: onDemand(9, 'a'),
    });
    const pods = [aPod({ count: 7, labels: app, podAffinity: [term(HOSTNAME)] })];
    expect(typesOf(solved(aProblem({ pods, instanceTypes: [aType(), large] })))).toEqual(['large']);
  });

  it('looks into other namespaces only when told to', () => {
    const boundPods = [{ node: 'node-1', namespace: 'shop', labels: app }];
    const full = aNode({ free: { cpu: 0, memory: 0, pods: 0 } });
    const seeking = (more: object) => [aPod({ podAffinity: [{ ...term(ZONE), ...more }] })];
    const ask = (more: object) =>
      placed(
        solved(aProblem({ pods: seeking(more), nodes: [full], boundPods, namespaces: { shop: { env: 'prod' } } })),
      );
    expect([
      ask({}),
      ask({ namespaces: ['shop'] }),
      ask({ namespaceSelector: { matchLabels: { env: 'prod' } } }),
    ]).toEqual([0, 1, 1]);
  });
});

describe('wishes', () => {
  const types = [aType({ offerings: [...onDemand(1, 'a'), ...onDemand(1.05, 'b'), ...onDemand(3, 'c')] })];
  const wishing = (zone: string) => [aPod({ preferredNodeAffinity: [{ weight: 1, term: [oneOf(ZONE, zone)] }] })];

  it('are granted where that costs little more, and only there', () => {
    expect(zonesOf(solved(aProblem({ pods: wishing('b'), instanceTypes: types })))).toEqual(['b']);
    expect(zonesOf(solved(aProblem({ pods: wishing('c'), instanceTypes: types })))).toEqual(['a']);
  });

  it('to stay off a tainted pool are granted when another pool costs about the same', () => {
    const shunned = aPool({ name: 'shunned', taints: [{ key: 'old', effect: 'PreferNoSchedule' }] });
    expect(solved(aProblem({ pools: [shunned, aPool({ name: 'fine' })] })).newNodes[0]?.pool).toBe('fine');
    expect(placed(solved(aProblem({ pools: [shunned] })))).toBe(1);
  });

  it('to be spread over zones never keep a pod out', () => {
    const soft = {
      topologyKey: ZONE,
      maxSkew: 1,
      whenUnsatisfiable: 'ScheduleAnyway' as const,
      selector: { matchLabels: { app: 'x' } },
    };
    const pods = [aPod({ count: 4, labels: { app: 'x' }, requirements: [[oneOf(ZONE, 'a')]], topologySpread: [soft] })];
    expect(placed(solved(aProblem({ pods })))).toBe(4);
    expect(new Set(zonesOf(solved(aProblem({ pods: [{ ...pods[0]!, count: 12, requirements: [] }] }))))).toHaveLength(
      3,
    );
  });
});

describe('ordered alternatives', () => {
  const spot = aType({ name: 'spot', offerings: [{ zone: 'a', capacityType: 'spot', price: 2 }] });
  const pods = [
    aPod({ ordered: true, requirements: [[oneOf(CAPACITY_TYPE, 'spot')], [oneOf(CAPACITY_TYPE, 'on-demand')]] }),
  ];

  it('are taken in their order even when a later one is cheaper', () => {
    expect(typesOf(solved(aProblem({ pods, instanceTypes: [aType(), spot] })))).toEqual(['spot']);
  });

  it('fall back when nothing satisfies the earlier one', () => {
    expect(typesOf(solved(aProblem({ pods })))).toEqual(['medium']);
  });

  it('without an order go by price', () => {
    expect(
      typesOf(solved(aProblem({ pods: [{ ...pods[0]!, ordered: false }], instanceTypes: [aType(), spot] }))),
    ).toEqual(['medium']);
  });
});

describe('what else a node must have', () => {
  it('includes room for daemons that will run on it', () => {
    const daemons = [{ name: 'agent', requests: { cpu: 1000 } }];
    expect(solved(aProblem({ pods: [aPod({ count: 4 })], daemons })).newNodes).toHaveLength(2);
  });

  it('includes free host ports and volume attachments', () => {
    expect(solved(aProblem({ pods: [aPod({ count: 3, hostPorts: [{ port: 80 }] })] })).newNodes).toHaveLength(3);
    const instanceTypes = [aType({ volumeAttachLimits: { disk: 2 } })];
    expect(
      solved(aProblem({ pods: [aPod({ count: 4, volumeAttachments: { disk: 1 } })], instanceTypes })).newNodes,
    ).toHaveLength(2);
  });

  it('includes being where the volumes are', () => {
    expect(zonesOf(solved(aProblem({ pods: [aPod({ volumeRequirements: [[oneOf(ZONE, 'b')]] })] })))).toEqual(['b']);
  });
});

describe('the offerings of a new node', () => {
  it('have on-demand among them, however many spot offerings are cheaper', () => {
    const instanceTypes = Array.from({ length: 60 }, (_, index) =>
      aType({
        name: `t${index}`,
        offerings: [
          ...['a', 'b', 'c'].map((zone) => ({ zone, capacityType: 'spot' as const, price: 1 + index / 100 })),
          ...onDemand(3 + index / 100, 'a', 'b', 'c'),
        ],
      }),
    );
    const [node] = solved(aProblem({ instanceTypes })).newNodes;
    const capacityTypes = node?.offerings.map(({ capacityType }) => capacityType) ?? [];
    expect(capacityTypes.indexOf('on-demand')).toBeGreaterThanOrEqual(20);
    expect(capacityTypes.slice(capacityTypes.indexOf('on-demand'))).toEqual(Array(5).fill('on-demand'));
    expect(node?.offerings.find(({ capacityType }) => capacityType === 'on-demand')?.price).toBe(3);
  });

  it('have on-demand among them, also where pods on other nodes are spread over on-demand nodes only', () => {
    const spot = { zone: 'a', capacityType: 'spot' as const, price: 1 };
    const instanceTypes = [aType({ offerings: [spot, ...onDemand(3, 'a', 'b')] })];
    const app = { app: 'web' };
    const rule = { topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const };
    const spread = { ...rule, selector: { matchLabels: app } };
    const requirements = [[oneOf(CAPACITY_TYPE, 'on-demand')]];
    const whole = { cpu: 3000, memory: GIB };
    const pods = [
      aPod({ name: 'spread', count: 2, labels: app, requests: whole, requirements, topologySpread: [spread] }),
      aPod({ name: 'counted', labels: app, requests: whole }),
      aPod({ name: 'any', requests: whole }),
    ];
    const solution = solved(aProblem({ pods, instanceTypes }));
    const offered = solution.newNodes.map(({ offerings }) => offerings.map(({ capacityType }) => capacityType).join());
    // The counted pod gets only spot offerings, since the spread does not count spot nodes.
    expect(offered.sort()).toEqual(['on-demand', 'on-demand', 'spot', 'spot,on-demand,on-demand']);
  });

  it('are the chosen one and then others that would do, several types before many zones of one', () => {
    const types = Array.from({ length: 30 }, (_, index) =>
      aType({ name: `t${index}`, offerings: onDemand(1 + index / 100, 'a', 'b', 'c') }),
    );
    const [node] = solved(aProblem({ instanceTypes: types })).newNodes;
    expect(node?.offerings.length).toBeGreaterThanOrEqual(20);
    expect(new Set(node?.offerings.slice(0, 20).map((one) => one.instanceType)).size).toBeGreaterThanOrEqual(10);
    expect(node?.offerings[0]?.price).toBe(1);
  });
});
