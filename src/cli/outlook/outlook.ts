/**
 * Predicts which consolidation moves the running autoscaler would make, and why it leaves the other nodes alone: with the same
 * plan, budgets, SpotPolicies and forecast of the scheduler. Deterministic unless `limits` sets a time limit.
 */
import { Budgets } from '../../controllers/disruption/budgets/budgets.ts';
import { TRUSTING } from '../../controllers/disruption/consolidation/caution.ts';
import { candidatesAmong } from '../../controllers/disruption/consolidation/commands-of-plan.ts';
import { planMoves } from '../../controllers/disruption/consolidation/plan-moves.ts';
import { withinPolicies } from '../../controllers/disruption/consolidation/within-policies.ts';
import type { SpotPolicies } from '../../controllers/spot-policy/spot-policies.ts';
import type { ConsolidationOptions } from '../../engine/consolidation/fleet.ts';
import { leastFleetPrice } from '../../engine/consolidation/least-fleet-price.ts';
import type { ConsolidationPlan, KeptCause, Move } from '../../engine/consolidation/plan.ts';
import { finish } from '../../engine/packing/work.ts';
import { type BuiltFleet, buildFleet, type FleetSnapshot } from '../../state/build-fleet.ts';
import { holdText } from './hold-text.ts';

/** A predicted move. */
export interface ExpectedMove {
  /** With the offerings that SpotPolicies choose, at real prices without risk. */
  readonly move: Move;
  /**
   * `now`; `next`: once the new nodes of other moves, which its pods go to, are launched; `later`: after other moves, because
   * it needs the room that they free.
   */
  readonly begins: 'now' | 'next' | 'later';
  /** Numbers of the moves, from 1, whose new nodes its pods need. */
  readonly after: readonly number[];
}

/** A node that no move removes. */
export interface StayingNode {
  readonly node: string;
  /** A clause without its full stop. */
  readonly because: string;
  /** USD per hour that removing it would save, at most. */
  readonly wouldSave: number;
  /** The reason as data, where the plan itself skips the node. */
  readonly cause?: KeptCause;
}

/** The prediction for all nodes. */
export interface Outlook {
  readonly plan: ConsolidationPlan;
  readonly built: BuiltFleet;
  readonly moves: readonly ExpectedMove[];
  readonly stays: readonly StayingNode[];
  /** Lower bound in USD per hour on any fleet for the same pods, at current prices. */
  leastPrice(): number;
}

/** Inputs of `outlook` beside the snapshot. */
export interface OutlookOptions {
  /** How each pool uses spot capacity. */
  readonly policies: Pick<SpotPolicies, 'for'>;
  /** Disruptions that the budgets allow; the predicted moves use them up. */
  readonly budgets?: Budgets;
  readonly limits: Pick<ConsolidationOptions, 'deadlineMs' | 'elapsedMs' | 'maxSteps'>;
}

const UNLIKELY = 'some of its pods would not fit where the scheduler is likely to place them';

/** Predicts the moves for a snapshot. */
export function outlook(snapshot: FleetSnapshot, { policies, limits, ...given }: OutlookOptions): Outlook {
  const { nodePools, pools, nodes, now, podsOn } = snapshot;
  const built = buildFleet(snapshot);
  const poolNamed = new Map(nodePools.map((pool) => [pool.metadata.name ?? '', pool]));
  const circumstances = { policies, pools, nodes };
  const planning = planMoves(built, {
    ...circumstances,
    options: () => ({ evictInTurns: true, ...limits }),
    // Only the autoscaler knows the results of its latest moves; it may judge these more strictly.
    test: TRUSTING,
    candidate: candidatesAmong(built, { poolNamed, podsOn }),
    poolNamed,
    budgets: given.budgets ?? new Budgets({ pools: nodePools, nodes, now }),
    newId: () => '',
  });
  const { plan, refused, unlikely, ...found } = finish(planning);
  const { paid } = withinPolicies({ ...circumstances, built }, () => {});
  const begins = new Map<Move, Pick<ExpectedMove, 'begins' | 'move'>>([
    ...found.now.map(({ planned, move }) => [planned, { begins: 'now', move }] as const),
    ...found.next.map(({ planned, move }) => [planned, { begins: 'next', move }] as const),
    ...found.later.map((move) => [move, { begins: 'later', move }] as const),
  ]);
  const number = new Map<number, number>();
  for (const [index, move] of plan.moves.entries()) if (begins.has(move)) number.set(index, number.size + 1);
  const moves = plan.moves.flatMap((planned, index): ExpectedMove[] => {
    const expected = begins.get(planned);
    if (expected === undefined) return [];
    const others = planned.landings.flatMap((landing) =>
      'move' in landing && landing.move !== index ? (number.get(landing.move) ?? []) : [],
    );
    const move = { ...expected.move, newNodes: expected.move.newNodes.map((node) => paid(node)) };
    return [{ move, begins: expected.begins, after: [...new Set(others)].sort((a, b) => a - b) }];
  });
  const dropped = new Map([...refused, ...unlikely.map((move) => [move, UNLIKELY] as const)]);
  const leastPrice = (): number => leastFleetPrice(buildFleet(atPaidPrices(snapshot)).fleet);
  return { plan, built, moves, stays: staysOf(plan, dropped, snapshot, built), leastPrice };
}

/** Replaces prices that include risk by the prices that are billed. */
function atPaidPrices(snapshot: FleetSnapshot): FleetSnapshot {
  return {
    ...snapshot,
    pools: snapshot.pools.map((pool) => ({ ...pool, instanceTypes: pool.sold ?? pool.instanceTypes })),
  };
}

function staysOf(
  { kept }: ConsolidationPlan,
  dropped: ReadonlyMap<Move, string>,
  snapshot: FleetSnapshot,
  { states }: BuiltFleet,
): StayingNode[] {
  const left = kept.map(({ node, cause, sentence, wouldSave }): StayingNode => {
    const state = states.get(node);
    const detail = cause.kind === 'hold' && state !== undefined ? holdText(state, cause.hold, snapshot) : undefined;
    return { node, because: detail ?? sentence.replace(/^node \S+ stays: /, ''), wouldSave, cause };
  });
  const notMade = [...dropped].flatMap(([{ nodes, savings }, because]) =>
    nodes.map((node): StayingNode => ({ node, because, wouldSave: savings / nodes.length })),
  );
  return [...left, ...notMade];
}
