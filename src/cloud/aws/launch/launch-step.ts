/**
 * Which of the wanted offerings one fleet call asks for. A call has one capacity type, and one reservation where it is for
 * reserved capacity; what it does not get is asked for in the next one.
 */
import type { RankedOffering } from '../../../engine/solution.ts';

export interface LaunchStep {
  readonly capacityType: RankedOffering['capacityType'];
  readonly reservationId?: string;
  /** In the order in which they are wanted. */
  readonly offerings: readonly RankedOffering[];
}

/**
 * Reservations come first, in their own order, each by itself, as far as they have a slot. Then the capacity type that is
 * wanted most, with all its offerings: the more pools a spot fleet can choose from, the longer its machines live. Spot offerings
 * that are dearer than an on-demand one in the list wait until after that.
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
  // The first one is wanted before any on-demand machine, whatever the list price says.
  const worthIt = ofType.filter((offering) => offering === first || offering.price <= onDemand);
  return { capacityType, offerings: worthIt };
}
