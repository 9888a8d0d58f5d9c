/** The fleet as it is planned again where policies refused the cheapest plan: with less that they would refuse. Pure. */
import { CAPACITY_TYPE } from '../../../engine/compile/well-known.ts';
import type { Fleet } from '../../../engine/consolidation/fleet.ts';
import type { Requirement } from '../../../engine/problem.ts';
import { limitNothing } from '../../../engine/spot/spot-limits.ts';
import type { BuiltFleet } from '../../../state/build-fleet.ts';
import { MoveJudge } from '../../spot-policy/move-judge.ts';
import type { PolicyCircumstances } from './within-policies.ts';

const NOT_SPOT: Requirement = { key: CAPACITY_TYPE, operator: 'NotIn', values: ['spot'] };

/** One after the other, each made only when it is asked for. */
export function* stricterFleets(
  { fleet, cloudName }: BuiltFleet,
  { policies, pools, nodes }: PolicyCircumstances,
): Generator<Fleet, void> {
  const limits = new Map(fleet.pools.map(({ name }) => [name, policies.for(name).limits]));
  // 1. Nothing of a pool that is to have on-demand nodes becomes spot: on-demand nodes make way for smaller ones, or for none.
  const wants = (pool: string): boolean => {
    const { onDemandBase = 0, onDemandPercent = 0 } = limits.get(pool) ?? {};
    return onDemandBase > 0 || onDemandPercent > 0;
  };
  if (fleet.pools.some(({ name }) => wants(name))) {
    yield {
      ...fleet,
      pools: fleet.pools.map((pool) =>
        wants(pool.name) ? { ...pool, requirements: [...(pool.requirements ?? []), NOT_SPOT] } : pool,
      ),
    };
  }
  // 2. Nodes stay whose end by itself would miss a share: others go, whose pods have room on them.
  if ([...limits.values()].every(limitNothing)) return;
  const nodePools = pools.map(({ pool }) => pool);
  const judge = new MoveJudge({ policies, pools: nodePools, nodes, instanceTypes: fleet.instanceTypes, cloudName });
  yield {
    ...fleet,
    nodes: fleet.nodes.map((node) =>
      node.hold === undefined && judge.asksFor(node.name) ? { ...node, hold: 'spot-policy' } : node,
    ),
  };
}
