/** Explains a node as data: compares its offering with the plan on its NodeClaim. */
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../apis/karpenter/labels.ts';
import type { Labels } from '../../engine/problem.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import { ANNOTATION_OFFERINGS, readOfferings } from '../../state/planned-offerings.ts';
import { labelsOf, poolOf, type StateNode } from '../../state/state-node.ts';

/** A node among the offerings of its plan. */
export interface NodeWhy {
  readonly node: string;
  readonly pool: string | undefined;
  /** The launched or planned offering; without a price when it is not known. */
  readonly offering: Omit<RankedOffering, 'price'> & { readonly price?: number };
  readonly launched: boolean;
  /** The on-demand price of the same instance type, where it is known. */
  readonly onDemandPrice?: number;
  /** Requests of its pods when it was planned. */
  readonly requests: Readonly<Record<string, string | number>>;
  /** Better offerings of the plan, which had no capacity. */
  readonly fellBackFrom: readonly RankedOffering[];
  /** The other offerings of the plan, best first. */
  readonly beat: readonly RankedOffering[];
  /** The plan does not name what was launched. */
  readonly unplanned: boolean;
}

/** The current price of an offering, where it is known. */
export type PriceLookup = (offering: Omit<RankedOffering, 'price'>) => number | undefined;

/** Undefined for a node without a NodeClaim. */
export function nodeWhy(
  state: StateNode,
  priceNow: PriceLookup = () => undefined,
  reservationOf: (labels: Labels) => string | undefined = () => undefined,
): NodeWhy | undefined {
  const { claim } = state;
  if (claim === undefined) return undefined;
  const plan = readOfferings(claim.metadata.annotations?.[ANNOTATION_OFFERINGS]);
  const labels = labelsOf(state);
  const reservationId = reservationOf(labels);
  const launched = claim.status?.providerID !== undefined;
  const offering = {
    instanceType: labels[LABEL_INSTANCE_TYPE] ?? '',
    zone: labels[LABEL_ZONE] ?? '',
    capacityType: (labels[LABEL_CAPACITY_TYPE] ?? 'on-demand') as RankedOffering['capacityType'],
    ...(reservationId === undefined ? {} : { reservationId }),
  };
  const rank = plan.findIndex((other) => isSame(other, offering));
  const price = plan[rank]?.price ?? priceNow(offering);
  const onDemandPrice = onDemandPriceOf(offering, plan, priceNow);
  return {
    node: state.name,
    pool: poolOf(state),
    offering: { ...offering, ...(price === undefined ? {} : { price }) },
    launched,
    ...(onDemandPrice === undefined ? {} : { onDemandPrice }),
    requests: claim.spec.resources?.requests ?? {},
    fellBackFrom: rank < 0 ? [] : plan.slice(0, rank),
    beat: plan.slice(rank + 1),
    unplanned: rank < 0,
  };
}

/** The price in the plan, in the same zone if possible; else the current price. */
export function onDemandPriceOf(
  { instanceType, zone }: Pick<RankedOffering, 'instanceType' | 'zone'>,
  plan: readonly RankedOffering[],
  priceNow: PriceLookup,
): number | undefined {
  const capacityType = 'on-demand' as const;
  const alike = plan.filter((other) => other.instanceType === instanceType && other.capacityType === capacityType);
  const planned = alike.find((other) => other.zone === zone) ?? alike[0];
  return planned?.price ?? priceNow({ instanceType, zone, capacityType });
}

function isSame(a: RankedOffering, b: Omit<RankedOffering, 'price'>): boolean {
  return (
    a.instanceType === b.instanceType &&
    a.zone === b.zone &&
    a.capacityType === b.capacityType &&
    a.reservationId === b.reservationId
  );
}
