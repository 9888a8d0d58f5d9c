import type { InstanceType } from '../../engine/problem.ts';
import { atMarketPrices } from '../../engine/risk/risk-prices.ts';
import type { NewNode, RankedOffering } from '../../engine/solution.ts';
import type { UsablePool } from '../../state/usable-pool.ts';

/** The planned node with market prices instead of risk-adjusted ones, for claims, events and reports. */
export function atPricesPaid<Node extends NewNode>(
  node: Node,
  pools: readonly UsablePool[],
  cloudName: (instanceType: string) => string,
): Node {
  const of = pools.find(({ pool }) => pool.metadata.name === node.pool);
  if (of?.sold === undefined || of.sold === of.instanceTypes) return node;
  const prices = pricesOf(of.sold);
  return atMarketPrices(node, (offering) => {
    const named = { ...offering, instanceType: cloudName(offering.instanceType) };
    return prices.get(nameOf(named)) ?? offering.price;
  });
}

// Lists of instance types are replaced, never mutated.
const PRICES = new WeakMap<readonly InstanceType[], ReadonlyMap<string, number>>();

function pricesOf(sold: readonly InstanceType[]): ReadonlyMap<string, number> {
  const known = PRICES.get(sold);
  if (known !== undefined) return known;
  const prices = new Map(
    sold.flatMap(({ name, offerings }) =>
      offerings.map((offering) => [nameOf({ ...offering, instanceType: name }), offering.price]),
    ),
  );
  PRICES.set(sold, prices);
  return prices;
}

function nameOf({ instanceType, zone, capacityType, reservationId }: Omit<RankedOffering, 'price'>): string {
  return `${instanceType}/${zone}/${capacityType}/${reservationId ?? ''}`;
}
