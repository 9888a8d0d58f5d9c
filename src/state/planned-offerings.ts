/**
 * The ranked offerings of a plan, written on its claim. They survive a restart between plan and launch, and show later what the machine was
 * chosen from.
 */
import { SPINDRIFT_GROUP } from '../apis/spindrift/group.ts';
import type { RankedOffering } from '../engine/solution.ts';

export const ANNOTATION_OFFERINGS = `${SPINDRIFT_GROUP}/offerings`;

/** One word per offering: `type/zone/capacityType/price[/reservation]`. Only the reservation, at the end, may have slashes. */
export function writeOfferings(offerings: readonly RankedOffering[]): string {
  return offerings
    .map(({ instanceType, zone, capacityType, price, reservationId }) =>
      [
        ...[withoutSlash(instanceType), withoutSlash(zone), capacityType, price],
        ...(reservationId === undefined ? [] : [reservationId.replaceAll(' ', '%20')]),
      ].join('/'),
    )
    .join(' ');
}

/** Reads them back. Unreadable words are skipped, as someone may have edited the annotation. */
export function readOfferings(text: string | undefined): RankedOffering[] {
  return (text ?? '').split(' ').flatMap((word) => {
    const [instanceType, zone, capacityType, price, ...reservation] = word.split('/');
    if (instanceType === undefined || zone === undefined || !isCapacityType(capacityType)) return [];
    const amount = Number(price);
    if (price === undefined || Number.isNaN(amount)) return [];
    const reservationId = reservation.join('/').replaceAll('%20', ' ');
    return [
      {
        ...{ instanceType: withSlash(instanceType), zone: withSlash(zone), capacityType, price: amount },
        ...(reservation.length === 0 ? {} : { reservationId }),
      },
    ];
  });
}

/** Machine types of some clouds are paths. */
function withoutSlash(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('/', '%2F').replaceAll(' ', '%20');
}

function withSlash(text: string): string {
  return text.replaceAll('%20', ' ').replaceAll('%2F', '/').replaceAll('%25', '%');
}

/** The first offering alone, which is faster for many claims. */
export function firstOffering(text: string | undefined): RankedOffering | undefined {
  const end = text?.indexOf(' ') ?? -1;
  return readOfferings(end < 0 ? text : text?.slice(0, end))[0];
}

function isCapacityType(text: string | undefined): text is RankedOffering['capacityType'] {
  return text === 'spot' || text === 'on-demand' || text === 'reserved';
}
