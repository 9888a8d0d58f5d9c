/** Variants of the fleet to plan again with when SpotPolicies refuse the cheapest plan. Pure. */
import { CAPACITY_TYPE } from '../../../engine/compile/well-known.ts';
import type { Fleet } from '../../../engine/consolidation/fleet.ts';
import type { Requirement } from '../../../engine/problem.ts';
import { limitNothing } from '../../../engine/spot/spot-limits.ts';
import type { BuiltFleet } from '../../../state/build-fleet.ts';
import { MoveJudge } from '../../spot-policy/move-judge.ts';
import type { PolicyCircumstances } from './within-policies.ts';

const NOT_SPOT: Requirement = { key: CAPACITY_TYPE, operator: 'NotIn', values: ['spot'] };

/** Yields one variant after another, each built on demand. */
export function* stricterFleets(
  { fleet, cloudName }: BuiltFleet,
  { policies, pools, nodes }: PolicyCircumstances,
): Generator<Fleet, void> {
  const limits = new Map(fleet.pools.map(({ name }) => [name, policies.for(name).limits]));
  // 1. Pools that must have on-demand nodes launch no spot: their on-demand nodes are replaced by smaller ones, or removed.
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
  // 2. Nodes that a policy requires by themselves are held: other nodes go, whose pods have room on them.
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
