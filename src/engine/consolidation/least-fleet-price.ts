import { finish, UNLIMITED, Work } from '../packing/work.ts';
import { unitPrices } from '../unit-prices.ts';
import { compileFleet } from './compiled-fleet.ts';
import type { Fleet } from './fleet.ts';
import { fleetBound, movableDemand } from './fleet-bound.ts';
import { FleetState } from './fleet-state.ts';

/**
 * A lower bound in USD per hour on any fleet for the same pods, for any moves and launches. A plan's own bound is
 * different: it only holds while the nodes that may not be removed now stay.
 */
export function leastFleetPrice(fleet: Fleet): number {
  const work = new Work(UNLIMITED);
  const compiled = finish(compileFleet(fleet, work));
  const state = new FleetState(compiled);
  finish(state.settle(work));
  const noneStays = (): boolean => false;
  return fleetBound(state, noneStays, unitPrices(compiled.model, movableDemand(state, noneStays)));
}
