import { describe, expect, it } from 'vitest';
import { aNodePool, type NodePoolParts } from '../../apis/karpenter/testkit/a-node-pool.ts';
import { finish } from '../../engine/packing/work.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { solve } from '../../engine/solve.ts';
import { Metrics } from '../../platform/metrics.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { buildProblem } from '../../state/build-problem.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aNode, aNodeClaim, aPod } from '../testkit/objects.ts';
import { RiskKeeper } from './risk-keeper.ts';
import { SpotPlanning } from './spot-planning.ts';
import { DEFAULT_SPOT_SETTINGS, type SpotSettings } from './spot-settings.ts';

const SOLD: readonly InstanceType[] = [
  {
    name: 'small',
    capacity: { cpu: 2000, memory: 8e9, pods: 20 },
    offerings: [
      { zone: 'a', capacityType: 'spot', price: 1 },
      { zone: 'b', capacityType: 'spot', price: 1.1 },
      { zone: 'a', capacityType: 'on-demand', price: 3 },
    ],
  },
];

function planned(given: {
  limits?: Partial<SpotSettings['limits']>;
  riskWeight?: number;
  interruptions?: number;
  nodes?: readonly StateNode[];
  /** The nodes there are when the plan is ready. */
  nodesThen?: readonly StateNode[];
  pods?: number;
  sold?: readonly InstanceType[];
  template?: NodePoolParts['template'];
}) {
  const { limits, riskWeight = 1, interruptions = 0, nodes = [], pods = 1, sold = SOLD, template } = given;
  const { nodesThen = nodes } = given;
  const clock = new VirtualClock();
  const risk = new RiskKeeper({ clock, metrics: new Metrics() });
  const labels = {
    'karpenter.sh/capacity-type': 'spot',
    'node.kubernetes.io/instance-type': 'small',
    'topology.kubernetes.io/zone': 'a',
  };
  for (let machine = 0; machine < interruptions; machine++) {
    const notice = {
      kind: 'preempted',
      machine: `${machine}`,
      at: clock.now(),
      source: 'test',
      detail: '',
    } as const;
    risk.recordNotice(notice, aNodeClaim({ metadata: { labels } }));
  }
  const settings = { ...DEFAULT_SPOT_SETTINGS, riskWeight, limits: { ...DEFAULT_SPOT_SETTINGS.limits, ...limits } };
  const spot = new SpotPlanning({ policies: { for: () => settings }, risk, nodes: () => nodesThen });
  const pool = aNodePool({ name: 'general', ...(template && { template }) });
  const built = buildProblem({
    pending: Array.from({ length: pods }, (_, index) =>
      aPod({
        name: `pod-${index}`,
        spec: { nodeName: '', containers: [{ name: 'main', resources: { requests: { cpu: '1500m' } } }] },
      }),
    ),
    nodes,
    podsOn: () => [],
    daemonSets: [],
    pools: [{ pool, instanceTypes: spot.priced('general', sold), sold }],
    namespaces: [],
    storage: { claim: () => undefined, volume: () => undefined, storageClass: () => undefined },
  });
  const plan = finish(spot.settle(solve(built.problem), built));
  const first = plan.solution.newNodes.map(({ offerings: [offering], price }) => {
    const { capacityType, zone } = offering ?? {};
    return `${capacityType} ${zone} ${price}`;
  });
  return { ...plan, first: first.sort() };
}

/** A spot node in zone a that has no room. */
function aFullNode(name: string, going = false): StateNode {
  const labels = {
    'karpenter.sh/nodepool': 'general',
    'karpenter.sh/capacity-type': 'spot',
    'node.kubernetes.io/instance-type': 'small',
    'topology.kubernetes.io/zone': 'a',
  };
  const node = aNode({ name, metadata: { labels }, status: { allocatable: { cpu: '0', memory: '1', pods: '0' } } });
  const deleted = going ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
  return { name, node, claim: aNodeClaim({ name, metadata: { labels, ...deleted } }) };
}

describe('a plan', () => {
  it('buys the cheapest where nothing is known and no policy limits it', () => {
    expect(planned({})).toMatchObject({ first: ['spot a 1'], changes: [], gaps: [] });
  });

  it('avoids a spot pool that takes machines back, and shows the prices that are paid', () => {
    const { first, solution } = planned({ interruptions: 3 });
    expect(first).toEqual(['spot b 1.1']);
    expect(solution.newNodes[0]?.offerings.map(({ zone, price }) => `${zone} ${price}`)).toEqual([
      'b 1.1',
      'a 1',
      'a 3',
    ]);
  });

  it('does not mind risk where that has no weight', () => {
    expect(planned({ interruptions: 3, riskWeight: 0 }).first).toEqual(['spot a 1']);
  });

  it('keeps the limits of the policy, counting the nodes there are but not those that go', () => {
    const limits = { maxPercentPerSpotPool: 50 };
    expect(planned({ limits, nodes: [aFullNode('n')] }).first).toEqual(['spot b 1.1']);
    expect(planned({ limits, nodes: [aFullNode('n', true)] }).first).toEqual(['spot a 1']);
    const { first, changes, solution } = planned({ limits: { onDemandBase: 1 }, pods: 2 });
    expect(first).toEqual(['on-demand a 3', 'spot a 1']);
    expect(changes).toHaveLength(1);
    expect(solution.price).toBe(4);
  });

  it('counts the nodes there are when the plan is ready, without those that it was made to replace', () => {
    const limits = { maxPercentPerSpotPool: 50 };
    expect(planned({ limits, nodes: [aFullNode('n')], nodesThen: [aFullNode('n', true)] }).first).toEqual(['spot a 1']);
    expect(planned({ limits, nodes: [], nodesThen: [aFullNode('n')] }).first).toEqual(['spot b 1.1']);
    expect(planned({ limits, nodes: [aFullNode('n', true)], nodesThen: [aFullNode('n')] }).first).toEqual(['spot a 1']);
  });

  it('marks nodes that are on demand only because spot is out of the market', () => {
    const sold = SOLD.map((type) => ({
      ...type,
      offerings: type.offerings.map((one) => (one.capacityType === 'spot' ? { ...one, healthy: false } : one)),
    }));
    const marks = (given: Parameters<typeof planned>[0]) =>
      planned(given).solution.newNodes.map(({ spotFallback }) => spotFallback);
    expect(marks({ sold })).toEqual([true]);
    expect(marks({ limits: { onDemandBase: 1 } })).toEqual([undefined]);
    const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['on-demand'] }];
    expect(marks({ sold, template: { requirements } })).toEqual([undefined]);
  });
});
