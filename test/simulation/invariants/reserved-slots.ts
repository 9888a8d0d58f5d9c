/** A reservation has no more machines than slots. */
import type { InvariantMaker } from '../invariant.ts';

export const reservedSlots: InvariantMaker = (facts, broken) => ({
  changed({ reservationId, state }) {
    if (reservationId === undefined || state !== 'pending') return;
    const slots = facts.plan.account.reservations.find(({ id }) => id === reservationId)?.count ?? 0;
    const taken = facts.instances.filter((instance) => instance.reservationId === reservationId).length;
    if (taken > slots) broken(`reservation ${reservationId} has ${slots} slots and ${taken} machines`);
  },
});
