import type { Model } from '../compile/model.ts';
import type { Offering } from '../problem.ts';
import { templateOf } from './node-options.ts';

/** What shares one count of slots: a reservation, or else the offering by itself. */
export function slotKey(
  instanceType: string,
  { reservationId, zone, capacityType }: Pick<Offering, 'reservationId' | 'zone' | 'capacityType'>,
): string {
  return reservationId ?? `${instanceType}/${zone}/${capacityType}`;
}

/** The same of an option. */
export function optionSlotKey(model: Model, option: number): string {
  const type = model.problem.instanceTypes[templateOf(model, option).type];
  return slotKey(type?.name ?? '', model.catalogue.optionOffering[option] as Offering);
}
