import { worth } from '../unit-prices.ts';
import type { FleetNode } from './fleet.ts';
import type { FleetState } from './fleet-state.ts';
import { optionSlotKey, slotKey } from './slot-key.ts';

/** The total requests of the pods that could move. */
export function movableDemand(state: FleetState, stays: (node: number) => boolean): Float64Array {
  const { capacity, free, existingCount, model } = state;
  const { size } = model.dimensions;
  const demand = new Float64Array(size);
  for (let node = 0; node < existingCount; node++) {
    if (stays(node)) continue;
    for (let column = 0; column < size; column++) {
      const at = node * size + column;
      demand[column] = (demand[column] as number) + (capacity[at] as number) - (free[at] as number);
    }
  }
  return demand;
}

/**
 * A lower bound on the price of any fleet that runs these pods and keeps the nodes that stay. It holds by duality, for any
 * resource prices at which no offering holds more value than it costs. Anything cheaper than that (existing nodes,
 * reservation slots, room on nodes that stay) is subtracted with the value it holds beyond its price.
 */
export function fleetBound(state: FleetState, stays: (node: number) => boolean, prices: Float64Array): number {
  const { model, existingCount, free, capacity } = state;
  const { catalogue, dimensions } = model;
  const { size } = dimensions;
  const demand = movableDemand(state, stays);
  const excess = new Float64Array(catalogue.reservationSlots.length);
  const slots = new Map<string, number>();
  for (let option = 0; option < catalogue.optionCount; option++) {
    const slot = catalogue.optionReservation[option] as number;
    if (slot < 0) continue;
    slots.set(optionSlotKey(model, option), slot);
    const holds = worth(prices, catalogue.alloc, (catalogue.optionTemplate[option] as number) * size);
    excess[slot] = Math.max(excess[slot] as number, holds - (catalogue.optionPrice[option] as number));
  }
  let kept = 0;
  let bound = worth(prices, demand);
  const room = new Float64Array(size);
  for (let node = 0; node < existingCount; node++) {
    const found = state.compiled.fleet.nodes[node] as FleetNode;
    if (stays(node) && found.closed === true) {
      kept += found.price;
      continue;
    }
    const source = stays(node) ? free : capacity;
    for (let column = 0; column < size; column++) room[column] = Math.max(0, source[node * size + column] as number);
    if (stays(node)) {
      kept += found.price;
      bound -= worth(prices, room);
      continue;
    }
    const slot = slots.get(slotKey(found.instanceType, found));
    bound -= Math.max(0, worth(prices, room) - found.price, slot === undefined ? 0 : (excess[slot] as number));
  }
  excess.forEach((amount, slot) => {
    bound -= amount * Math.max(0, catalogue.reservationSlots[slot] as number);
  });
  // Allows for the rounding error of a sum of many products.
  return kept + Math.max(0, bound * (1 - 1e-9));
}
