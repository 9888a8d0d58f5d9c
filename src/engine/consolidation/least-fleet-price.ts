import { finish, UNLIMITED, Work } from '../packing/work.ts';
import { unitPrices } from '../unit-prices.ts';
import { compileFleet } from './compiled-fleet.ts';
import type { Fleet } from './fleet.ts';
import { fleetBound, movableDemand } from './fleet-bound.ts';
import { FleetState } from './fleet-state.ts';

/**
 * USD per hour that no fleet for the same pods can cost less than, whatever is moved or launched. The bound of a plan is
 * another one: it holds only as long as the nodes that may not go now stay.
 */
export function leastFleetPrice(fleet: Fleet): number {
  const work = new Work(UNLIMITED);
  const compiled = finish(compileFleet(fleet, work));
  const state = new FleetState(compiled);
  finish(state.settle(work));
  const noneStays = (): boolean => false;
  return fleetBound(state, noneStays, unitPrices(compiled.model, movableDemand(state, noneStays)));
}
