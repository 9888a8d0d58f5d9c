import { describe, expect, it } from 'vitest';
import type { Offering } from '../problem.ts';
import { aPod, aType, onDemand } from '../testkit/builders.ts';
import { aConsolidation, aFleet, aFleetNode, aFleetPod } from '../testkit/fleet-builder.ts';
import { verifyConsolidation } from '../verify/verify-consolidation.ts';
import { consolidate } from './consolidate.ts';
import type { ConsolidationOptions, Fleet } from './fleet.ts';
import type { ConsolidationPlan } from './plan.ts';

function plan(fleet: Fleet, options: ConsolidationOptions = {}): ConsolidationPlan {
  const result = consolidate(fleet, options);
  expect(verifyConsolidation(fleet, result, options)).toEqual([]);
  return result;
}

const spot = (price: number): Offering[] => [{ zone: 'a', capacityType: 'spot', price }];

describe('a node on which nothing runs', () => {
  const cheap = aFleetNode('cheap', { price: 0.001, allocatable: { cpu: 100, pods: 1 } });
  const fleet = aFleet({
    nodes: [cheap, aFleetNode('used', { capacityType: 'spot' })],
    pods: [aFleetPod('p', 'used')],
    instanceTypes: [aType({ offerings: [...onDemand(1, 'a'), ...spot(0.2)] })],
    poolDisruption: [{ pool: 'default', policy: 'Balanced' }],
  });

  it('goes from a Balanced pool too, however little that saves', () => {
    expect(plan(fleet).moves).toMatchObject([{ reason: 'Empty', nodes: ['cheap'] }]);
  });

  it('is no excuse for others: spot makes way for spot as if it were alone', () => {
    expect(plan(fleet).moves.filter(({ nodes }) => nodes.includes('used'))).toEqual([]);
    const { moves } = plan(fleet, { spotDiversity: 1 });
    expect(moves.filter(({ nodes }) => nodes.includes('used'))).toMatchObject([
      { reason: 'Underutilized', nodes: ['used'] },
    ]);
  });

  it('counts in the budget for empty nodes, whatever goes beside it', () => {
    const allowed = { Empty: 0, Underutilized: 9 };
    const limited = { ...fleet, poolDisruption: [{ pool: 'default', allowed }] };
    expect(plan(limited, { spotDiversity: 1 }).moves.map(({ nodes }) => nodes)).toEqual([['used']]);
  });

  it('does not go in a move of others', () => {
    const { moves, kept } = plan(fleet, { spotDiversity: 1 });
    expect([...moves.flatMap(({ nodes }) => nodes), ...kept.map(({ node }) => node)].sort()).toEqual(['cheap', 'used']);
    const together = { nodes: ['cheap', 'used'], landings: { p: 0 }, buy: [{ buy: ['medium/a/spot'] }] };
    expect(verifyConsolidation(fleet, aConsolidation(fleet, [together]), { spotDiversity: 1 })).toMatchObject([
      { rule: 'untouchable', detail: 'cheap is empty, and goes with nodes that are not' },
    ]);
  });

  it('that pods were to come to leaves it to the nodes they come from to be worth what comes', () => {
    // The pod of the expensive node has room on the empty one, which then seems worth replacing by a cheaper one.
    const settling = aFleetNode('settling', { price: 5, settling: true });
    const empty = aFleetNode('empty', { price: 2 });
    const both = aFleet({ nodes: [settling, empty], pods: [aFleetPod('p', 'settling')], groups: [aPod()] });
    for (const { newNodes } of plan(both).moves) expect(newNodes).toEqual([]);
    const others = { ...both, nodes: [{ ...settling, settling: false }, empty] };
    expect(plan(others).moves.map(({ reason, nodes, newNodes }) => [reason, nodes, newNodes.length])).toEqual([
      ['Empty', ['empty'], 0],
      ['Underutilized', ['settling'], 1],
    ]);
  });
});
