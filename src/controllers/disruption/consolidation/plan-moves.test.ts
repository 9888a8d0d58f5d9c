import { describe, expect, it } from 'vitest';
import { aNodePool } from '../../../apis/karpenter/testkit/a-node-pool.ts';
import { finish } from '../../../engine/packing/work.ts';
import { buildFleet, type FleetSnapshot } from '../../../state/build-fleet.ts';
import { aFleetSnapshot, aRunningPod } from '../../../state/testkit/a-fleet-snapshot.ts';
import { aStateNode, ON_DEMAND, SPOT } from '../../../state/testkit/a-state-node.ts';
import { DEFAULT_SPOT_SETTINGS, type SpotSettings } from '../../spot-policy/spot-settings.ts';
import { TRUSTING } from './caution.ts';
import { candidatesAmong } from './commands-of-plan.ts';
import { confirmed, type PlannedMoves, planMoves } from './plan-moves.ts';
import { budgetsOf } from './testkit/planned-fleet.ts';

const nodePools = [aNodePool({ spec: { disruption: { budgets: [{ nodes: '100%' }] } } })];

function under(limits: Partial<SpotSettings['limits']>) {
  const settings = { ...DEFAULT_SPOT_SETTINGS, limits: { ...DEFAULT_SPOT_SETTINGS.limits, ...limits } };
  return { for: () => ({ ...settings, policy: 'careful' }) };
}

function planned(snapshot: FleetSnapshot, limits: Partial<SpotSettings['limits']>) {
  const built = buildFleet(snapshot);
  const poolNamed = new Map(snapshot.nodePools.map((pool) => [pool.metadata.name ?? '', pool]));
  const circumstances = { policies: under(limits), pools: snapshot.pools, nodes: snapshot.nodes };
  const budgets = budgetsOf(snapshot);
  const found: PlannedMoves = finish(
    planMoves(built, {
      ...circumstances,
      options: () => ({ evictInTurns: true, spotDiversity: 1 }),
      test: TRUSTING,
      candidate: candidatesAmong(built, { poolNamed, podsOn: (node) => snapshot.podsOn(node) }),
      poolNamed,
      budgets,
      newId: () => '',
    }),
  );
  return { ...found, budgets, confirm: { ...circumstances, built } };
}

const onDemand = (name: string) => aStateNode({ name, launched: ON_DEMAND, plan: [ON_DEMAND] });
const spot = (name: string) => aStateNode({ name, launched: SPOT, plan: [SPOT] });
const onePodEach = (...names: string[]) => names.map((name) => aRunningPod(`web-${name}`, name));

describe('the moves of a plan', () => {
  it('are looked for again without spot where a policy lets nothing become spot', () => {
    const nodes = ['a', 'b'].map(onDemand);
    const { now } = planned(aFleetSnapshot({ nodes, nodePools, pods: onePodEach('a', 'b') }), { onDemandPercent: 100 });
    expect(now.map(({ move }) => [move.kind, move.nodes.length])).toEqual([['delete', 1]]);
  });

  it('are looked for among the other nodes where a policy asks for those that would go', () => {
    const nodes = [onDemand('a'), spot('b')];
    const { now } = planned(aFleetSnapshot({ nodes, nodePools, pods: onePodEach('a', 'b') }), { onDemandBase: 1 });
    expect(now.map(({ move }) => move.nodes)).toEqual([['b']]);
  });

  it('are none where nothing else saves anything, which is told with the reason; budgets are as they were', () => {
    const snapshot = aFleetSnapshot({ nodes: [onDemand('a')], nodePools, pods: onePodEach('a') });
    const { now, refused, budgets } = planned(snapshot, { onDemandBase: 1 });
    expect(now).toEqual([]);
    expect([...refused.values()]).toEqual([
      'by SpotPolicy careful 1 of the 1 nodes of general are to be on-demand, and no new node that is like that saves enough',
    ]);
    expect(budgets.left('general', 'Underutilized')).toBe(1);
  });

  it('do not count on what others were to do and do not', () => {
    const nodes = [onDemand('a'), onDemand('b'), spot('c'), spot('d')];
    const snapshot = aFleetSnapshot({ nodes, nodePools, pods: onePodEach('a', 'b', 'c', 'd') });
    const { confirm } = planned(snapshot, { onDemandPercent: 50 });
    const going = (...names: string[]) => {
      const move = { kind: 'delete', reason: 'Underutilized', nodes: names, newNodes: [], landings: [], savings: 1 };
      return { move, planned: move, command: { id: names.join() } } as never;
    };
    const ids = (moves: Parameters<typeof confirmed>[0]) => [...confirmed(moves, confirm)].map(({ id }) => id);
    expect(ids([going('c', 'd'), going('a')])).toEqual(['c,d', 'a']);
    expect(ids([going('a')])).toEqual([]);
  });
});
