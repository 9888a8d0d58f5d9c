/**
 * Chooses the offerings of the next fleet call. A call has one capacity type, and one reservation if it is for reserved capacity. Offerings
 * that could not be launched are left to the next call.
 */
import type { RankedOffering } from '../../../engine/solution.ts';

export interface LaunchStep {
  readonly capacityType: RankedOffering['capacityType'];
  readonly reservationId?: string;
  /** Most preferred first. */
  readonly offerings: readonly RankedOffering[];
}

/**
 * Reservations with a free slot are first, one by one. Then the most preferred capacity type with all its offerings: the more spot pools a
 * fleet can choose from, the longer its machines live. Spot offerings more expensive than an on-demand one in the list are left to later
 * calls.
 */
export function nextStep(
  offerings: readonly RankedOffering[],
  takeSlot: (reservationId: string) => boolean,
): LaunchStep | undefined {
  const tried = new Set<string>();
  for (const { capacityType, reservationId } of offerings) {
    if (capacityType !== 'reserved' || reservationId === undefined || tried.has(reservationId)) continue;
    tried.add(reservationId);
    if (!takeSlot(reservationId)) continue;
    const ofReservation = offerings.filter((offering) => offering.reservationId === reservationId);
    return { capacityType: 'reserved', reservationId, offerings: ofReservation };
  }
  const others = offerings.filter(({ capacityType }) => capacityType !== 'reserved');
  const [first] = others;
  if (first === undefined) return undefined;
  const { capacityType } = first;
  const ofType = others.filter((offering) => offering.capacityType === capacityType);
  if (capacityType !== 'spot') return { capacityType, offerings: ofType };
  const onDemand = Math.min(
    ...others.filter((offering) => offering.capacityType === 'on-demand').map(({ price }) => price),
  );
  // The first offering ranks before any on-demand machine, whatever its list price.
  const worthIt = ofType.filter((offering) => offering === first || offering.price <= onDemand);
  return { capacityType, offerings: worthIt };
}
