import type { Model } from '../compile/model.ts';
import type { Offering } from '../problem.ts';
import { templateOf } from './node-options.ts';

/** The key under which slots are counted: the reservation, or else the offering itself. */
export function slotKey(
  instanceType: string,
  { reservationId, zone, capacityType }: Pick<Offering, 'reservationId' | 'zone' | 'capacityType'>,
): string {
  return reservationId ?? `${instanceType}/${zone}/${capacityType}`;
}

/** The slot key of an option. */
export function optionSlotKey(model: Model, option: number): string {
  const type = model.problem.instanceTypes[templateOf(model, option).type];
  return slotKey(type?.name ?? '', model.catalogue.optionOffering[option] as Offering);
}
