/** The present price of a node's machine. */
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { InstanceType, Labels, Offering } from '../engine/problem.ts';
import type { RankedOffering } from '../engine/solution.ts';
import { ANNOTATION_OFFERINGS, readOfferings } from './planned-offerings.ts';

/** Reserved machines are already paid for. This share of the price is counted, so that they can still be compared. */
const RESERVED_SHARE = 1 / 1000;

/** The offering that a node runs on, without its price. */
export type RunningOffering = Omit<RankedOffering, 'price'>;

/**
 * The present price of the offering, even if it is sold out; else its price when planned; else the cheapest price of the same type and
 * capacity type elsewhere. Else 0, so that a machine of unknown price is not replaced to save money.
 */
export function nodePrice(running: RunningOffering, type: InstanceType | undefined, claim?: NodeClaim): number {
  const { zone, capacityType, reservationId } = running;
  const offerings = type?.offerings ?? [];
  const alike = offerings.filter((offering) => offering.capacityType === capacityType);
  const here = alike.filter((offering) => offering.zone === zone);
  const sold =
    capacityType === 'reserved' ? here.find((offering) => offering.reservationId === reservationId) : here[0];
  if (sold !== undefined) return sold.price;
  if (capacityType === 'reserved') {
    const onDemand = offerings.filter((offering) => offering.capacityType === 'on-demand');
    const price = cheapest(onDemand.filter((offering) => offering.zone === zone)) ?? cheapest(onDemand);
    if (price !== undefined) return price * RESERVED_SHARE;
  }
  return plannedPrice(running, claim) ?? cheapest(alike) ?? 0;
}

/** The capacity type of a node with these labels; default on-demand. */
export function capacityTypeOf(labels: Labels): RankedOffering['capacityType'] {
  const capacityType = labels[LABEL_CAPACITY_TYPE];
  return capacityType === 'spot' || capacityType === 'reserved' ? capacityType : 'on-demand';
}

/** The offering that a node with these labels runs on. */
export function runningAs(labels: Labels, reservationOf: (labels: Labels) => string | undefined): RunningOffering {
  const reservationId = reservationOf(labels);
  return {
    instanceType: labels[LABEL_INSTANCE_TYPE] ?? '',
    zone: labels[LABEL_ZONE] ?? '',
    capacityType: capacityTypeOf(labels),
    ...(reservationId === undefined ? {} : { reservationId }),
  };
}

function cheapest(offerings: readonly Offering[]): number | undefined {
  return offerings.length === 0 ? undefined : Math.min(...offerings.map(({ price }) => price));
}

function plannedPrice({ instanceType, zone, capacityType }: RunningOffering, claim?: NodeClaim): number | undefined {
  return readOfferings(claim?.metadata.annotations?.[ANNOTATION_OFFERINGS]).find(
    (offering) =>
      offering.instanceType === instanceType && offering.zone === zone && offering.capacityType === capacityType,
  )?.price;
}
