/** What policies and risk have to do with a plan: they go into the prices before it, and change what its nodes are bought as. */
import type { InstanceType } from '../../engine/problem.ts';
import { atMarketPrices } from '../../engine/risk/risk-prices.ts';
import type { NewNode, RankedOffering } from '../../engine/solution.ts';
import { type SpreadResult, spreadOverSpotPools } from '../../engine/spot/spread-over-spot-pools.ts';
import type { StateNode } from '../../state/state-node.ts';
import type { PricedPool } from '../../state/usable-pool.ts';
import { poolsToSpread } from './pools-to-spread.ts';
import type { RiskKeeper } from './risk-keeper.ts';
import type { SpotPolicies } from './spot-policies.ts';

export interface SpotPlanningOptions {
  readonly policies: Pick<SpotPolicies, 'for'>;
  readonly risk: Pick<RiskKeeper, 'priced'>;
}

/** What a plan was made from. */
export interface PlannedWith {
  readonly pools: readonly PricedPool[];
  /** The nodes that are there or on their way, and stay. */
  readonly nodes: readonly StateNode[];
  readonly instanceTypes: readonly InstanceType[];
  /** What the cloud calls an instance type of the plan. */
  cloudName(instanceType: string): string;
}

export class SpotPlanning {
  readonly #options: SpotPlanningOptions;

  constructor(options: SpotPlanningOptions) {
    this.#options = options;
  }

  /** What a pool is sold, with risk in the prices as its policy weighs it. */
  priced(pool: string, types: readonly InstanceType[]): readonly InstanceType[] {
    return this.#options.risk.priced(types, this.#options.policies.for(pool).riskWeight);
  }

  /** The new nodes of a plan within the limits of the policies; prices are still those of the plan. */
  withinLimits<Node extends NewNode>(newNodes: readonly Node[], plannedWith: PlannedWith): SpreadResult<Node> {
    const { nodes, instanceTypes, cloudName } = plannedWith;
    const pools = plannedWith.pools.map(({ pool }) => pool);
    const { policies } = this.#options;
    return spreadOverSpotPools(newNodes, poolsToSpread({ policies, pools, nodes, instanceTypes, cloudName }));
  }
}

/** The new nodes of a plan at the prices that are paid. */
export function atPricesPaid<Node extends NewNode>(
  newNodes: readonly Node[],
  { pools, cloudName }: Pick<PlannedWith, 'pools' | 'cloudName'>,
): Node[] {
  const adjusted = new Map(
    pools.flatMap(({ pool, instanceTypes, sold }) =>
      instanceTypes === sold ? [] : [[pool.metadata.name ?? '', pricesOf(sold)] as const],
    ),
  );
  return newNodes.map((node) => {
    const prices = adjusted.get(node.pool);
    if (prices === undefined) return node;
    return atMarketPrices(node, (offering) => {
      const { instanceType } = offering;
      return prices.get(nameOf({ ...offering, instanceType: cloudName(instanceType) })) ?? offering.price;
    });
  });
}

function pricesOf(types: readonly InstanceType[]): ReadonlyMap<string, number> {
  return new Map(
    types.flatMap(({ name, offerings }) =>
      offerings.map((offering) => [nameOf({ ...offering, instanceType: name }), offering.price]),
    ),
  );
}

function nameOf({ instanceType, zone, capacityType, reservationId }: Omit<RankedOffering, 'price'>): string {
  return `${instanceType}/${zone}/${capacityType}/${reservationId ?? ''}`;
}
