import type { Fleet } from '../../../engine/consolidation/fleet.ts';
import type { Move } from '../../../engine/consolidation/plan.ts';
import type { RankedOffering } from '../../../engine/solution.ts';

/**
 * Decides, move by move, whether its launches must wait until an earlier move has deleted nodes, because a reservation is full or a pool
 * is at its limit. Moves that need not wait use up slots and limits.
 */
export function launchWaits({ instanceTypes, pools }: Pick<Fleet, 'instanceTypes' | 'pools'>): (move: Move) => boolean {
  const types = new Map(instanceTypes.map((type) => [type.name, type]));
  const slots = new Map<string, number>();
  const limits = new Map(
    pools.map(({ name, limits: most = {}, usage = {} }) => [
      name,
      new Map(Object.entries(most).map(([resource, limit]) => [resource, limit - (usage[resource] ?? 0)])),
    ]),
  );
  const slotsOf = (offering: RankedOffering): number => {
    const key = slotKey(offering);
    const known = slots.get(key);
    if (known !== undefined) return known;
    const sold = types
      .get(offering.instanceType)
      ?.offerings.find(
        (one) =>
          one.zone === offering.zone &&
          one.capacityType === offering.capacityType &&
          one.reservationId === offering.reservationId,
      );
    return sold?.slots ?? Number.POSITIVE_INFINITY;
  };
  return ({ newNodes }) => {
    const slotNeeds = new Map<string, number>();
    const limitNeeds = new Map<string, Map<string, number>>();
    for (const { pool, offerings } of newNodes) {
      const [first] = offerings;
      if (first === undefined) return true;
      const key = slotKey(first);
      const need = (slotNeeds.get(key) ?? 0) + 1;
      if (need > slotsOf(first)) return true;
      slotNeeds.set(key, need);
      const capacity = types.get(first.instanceType)?.capacity ?? {};
      const needs = limitNeeds.get(pool) ?? new Map<string, number>();
      limitNeeds.set(pool, needs);
      for (const [resource, left] of limits.get(pool) ?? []) {
        const each = resource === 'nodes' ? 1 : (capacity[resource] ?? 0);
        const sum = (needs.get(resource) ?? 0) + each;
        if (each > 0 && sum > left) return true;
        needs.set(resource, sum);
      }
    }
    for (const { offerings } of newNodes) {
      const [first] = offerings;
      if (first !== undefined) slots.set(slotKey(first), slotsOf(first) - 1);
    }
    for (const [pool, needs] of limitNeeds) {
      const left = limits.get(pool);
      for (const [resource, need] of needs) left?.set(resource, (left.get(resource) ?? 0) - need);
    }
    return false;
  };
}

/** The key of a slot count: the reservation, or else the offering. */
function slotKey({ reservationId, instanceType, zone, capacityType }: RankedOffering): string {
  return reservationId ?? `${instanceType}/${zone}/${capacityType}`;
}
