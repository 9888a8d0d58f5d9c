import { describe, expect, it } from 'vitest';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import type { Move } from '../../engine/consolidation/plan.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aNode, aNodeClaim } from '../testkit/objects.ts';
import { MoveJudge } from './move-judge.ts';
import { DEFAULT_SPOT_SETTINGS, type SpotSettings } from './spot-settings.ts';

type Capacity = RankedOffering['capacityType'];

/** A node of the pool, in zone a unless told otherwise; one that was to be spot where it is a fallback. */
function node(
  name: string,
  capacityType: Capacity,
  more: { fallback?: boolean; going?: boolean; zone?: string } = {},
): StateNode {
  const labels = {
    'karpenter.sh/nodepool': 'general',
    'karpenter.sh/capacity-type': capacityType,
    'karpenter.sh/registered': 'true',
    'node.kubernetes.io/instance-type': 'small',
    'topology.kubernetes.io/zone': more.zone ?? 'a',
  };
  const annotations = {
    'spindrift.dev/offerings': more.fallback ? 'small/a/spot/1 small/a/on-demand/3' : `small/a/${capacityType}/1`,
    ...(more.going && { 'spindrift.dev/disruption': 'x' }),
  };
  return {
    name,
    node: aNode({ name, metadata: { labels } }),
    claim: aNodeClaim({ name, metadata: { labels, annotations } }),
  };
}

const offering = (capacityType: Capacity, zone: string, price: number): RankedOffering => ({
  instanceType: 'small',
  zone,
  capacityType,
  price,
});

/** These nodes make way for new spot nodes; each could be on demand too. */
function move(nodes: readonly string[], replacements: number, savings = 1): Move {
  const offerings = [offering('spot', 'a', 1), offering('spot', 'b', 1.25), offering('on-demand', 'a', 3)];
  const newNode = { pool: 'general', requirements: [], offerings, price: 1, pods: [], requests: {} };
  return {
    kind: replacements === 0 ? 'delete' : 'replace',
    reason: 'Underutilized',
    nodes,
    newNodes: Array.from({ length: replacements }, () => newNode),
    landings: [],
    savings,
    disruptionCost: 2,
    score: savings / 2,
    sentence: '',
  };
}

function judge(nodes: readonly StateNode[], settings: Partial<SpotSettings> = {}): MoveJudge {
  return new MoveJudge({
    policies: { for: () => ({ ...DEFAULT_SPOT_SETTINGS, policy: 'careful', ...settings }) },
    pools: [aNodePool({ name: 'general' })],
    nodes,
    instanceTypes: [],
  });
}

const limits = (given: Partial<SpotSettings['limits']>): Partial<SpotSettings> => ({
  limits: { ...DEFAULT_SPOT_SETTINGS.limits, ...given },
});
const spot = (count: number): StateNode[] => Array.from({ length: count }, (_, index) => node(`s${index}`, 'spot'));

describe('a move', () => {
  it('is as it was where no policy says anything', () => {
    const wanted = move(['s0'], 1);
    expect(judge(spot(2)).judge(wanted)).toEqual({ move: wanted });
  });

  it('may not take the on-demand nodes that a policy asks for', () => {
    const nodes = [node('od', 'on-demand'), ...spot(2)];
    expect(judge(nodes, limits({ onDemandBase: 1 })).judge(move(['od'], 0))).toEqual({
      because: 'SpotPolicy careful requires 1 of 2 nodes of general to be on-demand',
    });
    expect(judge(nodes, limits({ onDemandBase: 1 })).judge(move(['s0'], 0))).toHaveProperty('move');
    expect(
      judge([...nodes, node('od2', 'on-demand')], limits({ onDemandBase: 1 })).judge(move(['od'], 0)),
    ).toHaveProperty('move');
  });

  it('may go on where on-demand nodes were missing before, as long as no more are', () => {
    expect(judge(spot(4), limits({ onDemandBase: 2 })).judge(move(['s0', 's1'], 1))).toMatchObject({
      move: { savings: 1 },
    });
  });

  it('may not take on-demand nodes where too few are there already', () => {
    const nodes = [node('od1', 'on-demand'), node('od2', 'on-demand'), ...spot(1)];
    expect(judge(nodes, limits({ onDemandBase: 3 })).judge(move(['od1'], 0))).toHaveProperty('because');
    expect(judge(nodes, limits({ onDemandBase: 3 })).judge(move(['s0'], 0))).toHaveProperty('move');
  });

  it('replaces an on-demand node that is asked for by another, if that still saves enough', () => {
    const nodes = [node('od', 'on-demand'), ...spot(1)];
    expect(judge(nodes, limits({ onDemandBase: 1 })).judge(move(['od'], 1, 5))).toMatchObject({
      move: { savings: 3, score: 1.5, newNodes: [{ price: 3, offerings: [{ capacityType: 'on-demand' }, {}, {}] }] },
    });
    expect(judge(nodes, limits({ onDemandBase: 1 })).judge(move(['od'], 1, 2))).toMatchObject({
      because: expect.stringMatching(/to be on-demand, and little would be saved$/),
    });
  });

  it('says what it has become', () => {
    const judged = judge([node('od', 'on-demand'), ...spot(1)], limits({ onDemandBase: 1 })).judge(move(['od'], 1, 5));
    expect(judged).toMatchObject({
      move: { sentence: 'replace node od by small on-demand in a: saves $3.0000 per hour, no evictions' },
    });
  });

  it('spreads its new nodes over spot pools', () => {
    const judged = judge(spot(4), limits({ maxPercentPerSpotPool: 50 })).judge(move(['s0', 's1'], 2, 2));
    expect(judged).toMatchObject({ move: { savings: 1.5, newNodes: [{ price: 1.25 }, { price: 1.25 }] } });
  });

  it('may not crowd a spot pool more than it is, but for what cannot be divided evenly', () => {
    const inB = ['b0', 'b1', 'b2'].map((name) => node(name, 'spot', { zone: 'b' }));
    const judging = judge([...spot(3), ...inB], limits({ maxPercentPerSpotPool: 50 }));
    expect(judging.judge(move(['b0'], 0))).toHaveProperty('move');
    expect(judging.asksFor('b1')).toBe(true);
    expect(judging.judge(move(['b1'], 0))).toEqual({
      because: 'SpotPolicy careful allows 50 % of the nodes of general in one spot pool, not 3 of 4',
    });
    expect(judging.judge({ ...move(['b1'], 0), reason: 'Empty' })).toHaveProperty('move');
  });

  it('takes from the fuller spot pool where the other has to stay', () => {
    const judging = judge([...spot(3), node('b0', 'spot', { zone: 'b' })], limits({ maxPercentPerSpotPool: 50 }));
    expect([judging.asksFor('b0'), judging.asksFor('s0')]).toEqual([true, false]);
  });

  it('makes no node spot that a policy asks for on demand, because others stand in that wait for spot', () => {
    const own = ['o1', 'o2'].map((name) => node(name, 'on-demand'));
    const fallbacks = ['f1', 'f2'].map((name) => node(name, 'on-demand', { fallback: true }));
    const settings = { ...limits({ onDemandPercent: 50 }), returnToSpot: { afterMs: 0, budget: '2' } };
    const judging = judge([...own, ...fallbacks], settings);
    expect(judging.judge(move(['o1'], 1))).toMatchObject({ because: expect.stringContaining('return to spot first') });
    expect(judging.judge(move(['f1'], 1))).toHaveProperty('move');
    expect(judge([...own, node('o3', 'on-demand'), ...fallbacks], settings).judge(move(['o1'], 0))).toHaveProperty(
      'move',
    );
  });

  it('has its new nodes fall back on what keeps the limits first', () => {
    const nodes = [node('od', 'on-demand'), node('b0', 'spot', { zone: 'b' })];
    expect(judge(nodes, limits({ maxPercentPerSpotPool: 50 })).judge(move(['od'], 1))).toMatchObject({
      move: { newNodes: [{ price: 1, offerings: [{ zone: 'a' }, { capacityType: 'on-demand' }, { zone: 'b' }] }] },
    });
  });

  it('counts what the moves before it did', () => {
    const nodes = [node('od1', 'on-demand'), node('od2', 'on-demand'), ...spot(3)];
    const judging = judge(nodes, limits({ onDemandBase: 1 }));
    expect(judging.judge(move(['od1'], 0))).toHaveProperty('move');
    expect(judging.judge(move(['od2'], 0))).toHaveProperty('because');
  });

  it('returns no more machines to spot at a time than the policy says', () => {
    const fallbacks = ['f1', 'f2', 'f3'].map((name) => node(name, 'on-demand', { fallback: true }));
    const rule = (budget: string): Partial<SpotSettings> => ({ returnToSpot: { afterMs: 0, budget } });
    const judging = judge(fallbacks, rule('2'));
    expect(judging.judge(move(['f1'], 1))).toHaveProperty('move');
    expect(judging.judge(move(['f2'], 1))).toHaveProperty('move');
    expect(judging.judge(move(['f3'], 1))).toEqual({
      because: 'no more than 2 machines of general return to spot at a time',
    });
    const going = node('g', 'on-demand', { fallback: true, going: true });
    expect(judge([...fallbacks, going], rule('1')).judge(move(['f1'], 1))).toHaveProperty('because');
    expect(judge(fallbacks, rule('0')).judge(move(['f1'], 0))).toHaveProperty('move');
  });

  it('returns no machine to spot where the policy says Never, but may take it away', () => {
    const judging = judge([node('f', 'on-demand', { fallback: true }), ...spot(1)], {
      returnToSpot: { afterMs: undefined, budget: '10%' },
    });
    expect(judging.judge(move(['f'], 1))).toMatchObject({ because: expect.stringContaining('Never') });
    expect(judging.judge(move(['f'], 0))).toHaveProperty('move');
  });
});
