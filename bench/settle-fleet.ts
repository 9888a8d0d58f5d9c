import { applyMoves } from '../src/engine/consolidation/apply-plan.ts';
import { consolidate } from '../src/engine/consolidation/consolidate.ts';
import type { Fleet, FleetNode } from '../src/engine/consolidation/fleet.ts';
import type { ConsolidationPlan } from '../src/engine/consolidation/plan.ts';

/** What a fleet comes to when it is consolidated again and again. */
export interface SettledFleet {
  /** Plans until one finds nothing more, the first among them. */
  readonly rounds: number;
  readonly price: number;
  /** Of the fleet at the end. */
  readonly lowerBound: number;
  readonly evictions: number;
}

/** Enough for budgets to fill up again and again; a fleet that moves longer flaps. */
const MOST_ROUNDS = 20;

/**
 * Carries plans out on paper, each with fresh PodDisruptionBudgets, until there is nothing left to do. Nodes that were held for a moment
 * are free after the first plan, and nodes that plans launch are in their cool-down until nothing else is left to do.
 */
export function settleFleet(fleet: Fleet, first: ConsolidationPlan): SettledFleet {
  let plan = first;
  let now = fleet;
  let evictions = 0;
  let rounds = 0;
  while (plan.moves.length > 0 && rounds < MOST_ROUNDS) {
    rounds++;
    evictions += plan.evictions;
    now = settling(fleet, applyMoves(now, plan.moves));
    plan = consolidate(now);
    if (plan.moves.length > 0) continue;
    now = { ...now, nodes: now.nodes.map(({ settling: _, ...node }) => node) };
    plan = consolidate(now);
  }
  return { rounds, price: plan.priceAfter, lowerBound: plan.lowerBound, evictions };
}

function settling(first: Fleet, now: Fleet): Fleet {
  const known = new Set(first.nodes.map(({ name }) => name));
  const nodes = now.nodes.map((node): FleetNode => {
    if (!known.has(node.name)) return { ...node, settling: true };
    if (node.heldBriefly !== true) return node;
    const { hold: _, heldBriefly: __, closed: ___, ...free } = node;
    return free;
  });
  return { ...now, nodes };
}
