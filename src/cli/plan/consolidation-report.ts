/** What consolidation would do to a live cluster, as data: what `-o json` and `-o yaml` print, and what the table is made from. */
import type { ConsolidationPlan, Move } from '../../engine/consolidation/plan.ts';
import type { BuiltFleet } from '../../state/build-fleet.ts';
import { perMonth } from '../money.ts';

/** Some nodes go, others come. */
export interface ReportedMove {
  readonly reason: string;
  /** The nodes that go. */
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

/** The whole plan. */
export interface ConsolidationReport {
  readonly moves: readonly ReportedMove[];
  /** USD per hour of all nodes, before and after; no fleet that runs these pods and keeps what must be kept costs less than the bound. */
  readonly price: { readonly before: number; readonly after: number; readonly lowerBound: number };
  readonly saved: { readonly perHour: number; readonly perMonth: number };
  readonly evictions: number;
  readonly kept: readonly { readonly node: string; readonly because: string; readonly wouldSave: number }[];
  /** Whether everything was looked at. */
  readonly complete: boolean;
  readonly notes: readonly string[];
}

/** The report of a plan. */
export function consolidationReport(
  plan: ConsolidationPlan,
  { cloudName }: Pick<BuiltFleet, 'cloudName'>,
  notes: readonly string[],
): ConsolidationReport {
  const perHour = plan.priceBefore - plan.priceAfter;
  return {
    moves: plan.moves.map((move, index) => reported(move, index, cloudName)),
    price: { before: plan.priceBefore, after: plan.priceAfter, lowerBound: plan.lowerBound },
    saved: { perHour, perMonth: perMonth(perHour) },
    evictions: plan.evictions,
    kept: plan.kept.map(({ node, sentence, wouldSave }) => ({
      node,
      because: sentence.replace(/^node \S+ stays: /, ''),
      wouldSave,
    })),
    complete: plan.complete,
    notes,
  };
}

function reported(move: Move, index: number, cloudName: BuiltFleet['cloudName']): ReportedMove {
  const needed = move.landings.flatMap((landing) =>
    'move' in landing && landing.move !== index ? [landing.move + 1] : [],
  );
  return {
    reason: move.reason,
    nodes: move.nodes,
    newNodes: move.newNodes.map(({ pool, price, offerings: [first] }) => ({
      pool,
      instanceType: cloudName(first?.instanceType ?? ''),
      zone: first?.zone ?? '',
      capacityType: first?.capacityType ?? '',
      price,
    })),
    evictions: move.landings.length,
    savings: move.savings,
    after: [...new Set(needed)].sort((a, b) => a - b),
  };
}
