import type { RankedOffering } from '../../engine/solution.ts';
import { dollars } from '../money.ts';

/** `m5.large (spot, sim-1a)`, with the reservation where there is one. */
export function offeringText({ instanceType, capacityType, zone, reservationId }: OfferingWords): string {
  return `${instanceType} (${[capacityType, zone, ...(reservationId === undefined ? [] : [reservationId])].join(', ')})`;
}

type OfferingWords = Pick<RankedOffering, 'instanceType' | 'zone' | 'reservationId'> & {
  readonly capacityType: string;
};

/** `$0.0351 an hour`; reserved offerings are paid for already. */
export function offeringPriceText({ capacityType, price }: Pick<RankedOffering, 'capacityType' | 'price'>): string {
  return capacityType === 'reserved' ? 'paid for already' : `${dollars(price)} an hour`;
}
