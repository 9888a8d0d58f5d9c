/** Builds the input of `spreadOverSpotPools` from policies, nodes and pools. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { InstanceType, Resources } from '../../engine/problem.ts';
import type { NewNode, RankedOffering } from '../../engine/solution.ts';
import { type FleetCounts, limitNothing, type SpotLimits } from '../../engine/spot/spot-limits.ts';
import type { PoolToSpread } from '../../engine/spot/spread-over-spot-pools.ts';
import type { StateNode } from '../../state/state-node.ts';
import { countFleet } from './count-fleet.ts';
import type { SpotPolicies } from './spot-policies.ts';

export interface PoolsToSpreadOptions {
  readonly policies: Pick<SpotPolicies, 'for'>;
  readonly pools: readonly NodePool[];
  /** Present and starting nodes that stay. */
  readonly nodes: readonly StateNode[];
  /** Instance types of the problem or fleet. */
  readonly instanceTypes: readonly InstanceType[];
  /** The cloud's name of an instance type in the problem. */
  cloudName?(instanceType: string): string;
}

const NONE: FleetCounts = { nodes: 0, onDemand: 0, spot: new Map() };

/** The pools that have limits. */
export function poolsToSpread(options: PoolsToSpreadOptions): ReadonlyMap<string, PoolToSpread> {
  const { policies, nodes, instanceTypes, cloudName } = options;
  const limitsOf = (pool: NodePool): SpotLimits => policies.for(pool.metadata.name ?? '').limits;
  const pools = options.pools.filter((pool) => !limitNothing(limitsOf(pool)));
  if (pools.length === 0) return new Map();
  const counts = countFleet(nodes);
  const capacities = new Map(instanceTypes.map(({ name, capacity }) => [name, capacity]));
  return new Map(
    pools.map((pool): [string, PoolToSpread] => {
      const name = pool.metadata.name ?? '';
      const limited = Object.keys(pool.spec.limits ?? {});
      return [
        name,
        {
          limits: limitsOf(pool),
          counts: counts.get(name) ?? NONE,
          ...(cloudName && { cloudName }),
          ...(limited.length > 0 && { allows: (node, offering) => takesNoMore(capacities, limited, node, offering) }),
        },
      ];
    }),
  );
}

/** Whether an offering uses no more of the limited resources than the planned one: the plan may use all that the limits leave. */
function takesNoMore(
  capacities: ReadonlyMap<string, Resources>,
  limited: readonly string[],
  node: NewNode,
  offering: RankedOffering,
): boolean {
  const planned = capacities.get(node.offerings[0]?.instanceType ?? '') ?? {};
  const other = capacities.get(offering.instanceType) ?? {};
  return limited.every((resource) => (other[resource] ?? 0) <= (planned[resource] ?? 0));
}
