/**
 * The value of a plan, to choose between several: what it saves now, plus what can be saved soon after it, less the price
 * of its pod moves.
 */
import type { ConsolidationOptions, Fleet } from './fleet.ts';
import type { FleetState } from './fleet-state.ts';
import type { Move } from './plan.ts';

/** What moving a pod must save, as a share of the average price of a pod. Moving all pods of a fleet must save this share of its price. */
const MOVE_PRICE = 0.1;
/**
 * Weight of a pod that moves to a node open to all pods. The scheduler places many of these elsewhere than planned, so the
 * fleet costs more than planned, and more moves follow to correct that.
 */
const PLACED_BY_SCHEDULER = 2;
/** The share of a briefly held node's waste that can be saved once it may be removed. */
const SAVED_SOON = 0.8;

/** A plan, and the fleet's state after it. */
export interface WeighedPlan {
  readonly moves: readonly Move[];
  readonly state: FleetState;
}

/** Compares plans for one fleet. */
export class PlanValue {
  /** USD per hour that moving a pod must save; 0 if only prices count. */
  readonly eachMove: number;
  readonly #podWorth: Float64Array;
  readonly #soon: readonly number[];

  constructor({ nodes, pods }: Fleet, podWorth: Float64Array, { movePrice = MOVE_PRICE }: ConsolidationOptions) {
    this.#podWorth = podWorth;
    this.eachMove = (movePrice * podWorth.reduce((sum, each) => sum + each, 0)) / pods.length;
    this.#soon = [...nodes.keys()].filter((node) => nodes[node]?.heldBriefly === true);
  }

  /** What is saved now or soon, less the price of the moves. */
  gain(plan: WeighedPlan): number {
    return this.saves(plan) - this.eachMove * disturbance(plan.moves);
  }

  /** What is saved now, plus what can soon be saved on briefly held nodes. Pods moved to such a node reduce that. */
  saves({ moves, state }: WeighedPlan): number {
    return saved(moves) + this.savedSoon(state);
  }

  /** What briefly held nodes will save once they may be removed. */
  savedSoon(state: FleetState): number {
    return this.#soon.reduce((sum, node) => sum + SAVED_SOON * Math.max(0, this.waste(state, node)), 0);
  }

  /** Price of a node less the value of its pods. */
  waste(state: FleetState, node: number): number {
    const used = state.podsOn(node).reduce((sum, pod) => sum + (this.#podWorth[pod] as number), 0);
    return (state.nodePrice[node] as number) - used;
  }
}

/** Total savings of moves, in USD per hour. */
export function saved(moves: readonly Move[]): number {
  return moves.reduce((sum, { savings }) => sum + savings, 0);
}

/** Number of pods the moves evict. */
export function evicted(moves: readonly Move[]): number {
  return moves.reduce((sum, { landings }) => sum + landings.length, 0);
}

/** Weighted number of pod moves: pods that the scheduler places freely count more. */
export function disturbance(moves: readonly Move[]): number {
  const count = ({ landings, fills = [] }: Move): number =>
    landings.reduce((sum, to) => sum + ('move' in to || fills.includes(to.node) ? 1 : PLACED_BY_SCHEDULER), 0);
  return moves.reduce((sum, move) => sum + count(move), 0);
}
