/**
 * What the running autoscaler would do to a fleet to make it cheaper, and why it leaves the other nodes alone: the same plan,
 * the same budgets, the same SpotPolicies and the same doubts about the scheduler. Pure but for the time it may take.
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

/** A move that would be made. */
export interface ExpectedMove {
  /** As policies have it, at the prices that are paid. */
  readonly move: Move;
  /**
   * At once; as soon as the nodes of others are on their way, which its pods go to; or when others are done, because it needs
   * what they make free.
   */
  readonly begins: 'now' | 'next' | 'later';
  /** Numbers of the moves, from 1, whose new nodes its pods need. */
  readonly after: readonly number[];
}

/** A node that would be left as it is. */
export interface StayingNode {
  readonly node: string;
  /** A clause without its end. */
  readonly because: string;
  /** USD per hour that its end would save, at most. */
  readonly wouldSave: number;
  /** Why, as data, where the plan itself leaves it alone. */
  readonly cause?: KeptCause;
}

/** What is to be expected. */
export interface Outlook {
  readonly plan: ConsolidationPlan;
  readonly built: BuiltFleet;
  readonly moves: readonly ExpectedMove[];
  readonly stays: readonly StayingNode[];
  /** USD per hour that no fleet for the same pods costs less than, at the prices that are paid now, whatever is moved. */
  leastPrice(): number;
}

/** What the outlook is made with. */
export interface OutlookOptions {
  /** How each pool uses spot capacity. */
  readonly policies: Pick<SpotPolicies, 'for'>;
  /** What budgets leave; the moves are taken from it. */
  readonly budgets?: Budgets;
  readonly limits: Pick<ConsolidationOptions, 'deadlineMs' | 'elapsedMs' | 'maxSteps'>;
}

const UNLIKELY = 'its pods would not all fit where the scheduler is likely to put them';

/** The outlook for a snapshot. */
export function outlook(snapshot: FleetSnapshot, { policies, limits, ...given }: OutlookOptions): Outlook {
  const { nodePools, pools, nodes, now, podsOn } = snapshot;
  const built = buildFleet(snapshot);
  const poolNamed = new Map(nodePools.map((pool) => [pool.metadata.name ?? '', pool]));
  const circumstances = { policies, pools, nodes };
  const planning = planMoves(built, {
    ...circumstances,
    options: () => ({ evictInTurns: true, ...limits }),
    // How the latest moves turned out is known to the autoscaler alone; it may put these to a harder test.
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

/** Risk is no part of the bill. */
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
