/** The consolidation plan of a live cluster as data: printed by `-o json` and `-o yaml`, and the source of the table. */
import type { BuiltFleet } from '../../state/build-fleet.ts';
import { poolOf } from '../../state/state-node.ts';
import { perMonth } from '../money.ts';
import type { ExpectedMove, Outlook } from '../outlook/outlook.ts';

/** Removes nodes and launches their replacements. */
export interface ReportedMove {
  readonly reason: string;
  /** At once, once the new nodes of other moves are launched, or when other moves are done. */
  readonly begins: ExpectedMove['begins'];
  /** The removed nodes. */
  readonly nodes: readonly string[];
  readonly newNodes: readonly {
    readonly pool: string;
    readonly instanceType: string;
    readonly zone: string;
    readonly capacityType: string;
    /** USD per hour. */
    readonly price: number;
  }[];
  /** Pods that are evicted. */
  readonly evictions: number;
  /** USD per hour. */
  readonly savings: number;
  /** Numbers of the moves, from 1, whose new nodes its pods need. */
  readonly after: readonly number[];
}

/** A node that no move removes. */
export interface KeptNode {
  readonly node: string;
  /** Null for a node of no NodePool. */
  readonly pool: string | null;
  readonly because: string;
  /** USD per hour, at most. */
  readonly wouldSave: number;
}

/** The whole plan. */
export interface ConsolidationReport {
  readonly moves: readonly ReportedMove[];
  /** USD per hour of all nodes, before and after, and the lower bound on any fleet for these pods. */
  readonly price: { readonly before: number; readonly after: number; readonly lowerBound: number };
  readonly saved: { readonly perHour: number; readonly perMonth: number };
  readonly evictions: number;
  readonly kept: readonly KeptNode[];
  /** False when the search ran out of time. */
  readonly complete: boolean;
  readonly notes: readonly string[];
}

/** The report of an outlook. */
export function consolidationReport(
  { plan, built, moves: expected, stays, leastPrice }: Outlook,
  notes: readonly string[],
): ConsolidationReport {
  const moves = expected.map((move) => reported(move, built));
  const perHour = moves.reduce((sum, { savings }) => sum + savings, 0);
  const after = plan.priceBefore - perHour;
  return {
    moves,
    // The last digits of sums differ.
    price: { before: plan.priceBefore, after, lowerBound: Math.min(after, leastPrice()) },
    saved: { perHour, perMonth: perMonth(perHour) },
    evictions: moves.reduce((sum, { evictions }) => sum + evictions, 0),
    kept: stays.map(({ node, because, wouldSave }) => ({
      node,
      pool: poolOf(built.states.get(node) ?? { name: node }) ?? null,
      because,
      wouldSave,
    })),
    complete: plan.complete,
    notes,
  };
}

function reported({ move, begins, after }: ExpectedMove, { cloudName, fleet }: BuiltFleet): ReportedMove {
  // The plan adds the risk of spot capacity to prices; bills do not.
  const goes = fleet.nodes.filter(({ name }) => move.nodes.includes(name)).reduce((sum, { price }) => sum + price, 0);
  const comes = move.newNodes.reduce((sum, { price }) => sum + price, 0);
  return {
    reason: move.reason,
    begins,
    nodes: move.nodes,
    newNodes: move.newNodes.map(({ pool, price, offerings: [first] }) => ({
      pool,
      instanceType: cloudName(first?.instanceType ?? ''),
      zone: first?.zone ?? '',
      capacityType: first?.capacityType ?? '',
      price,
    })),
    evictions: move.landings.length,
    savings: goes - comes,
    after,
  };
}
