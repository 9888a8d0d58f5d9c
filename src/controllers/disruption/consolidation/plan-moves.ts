/**
 * Plans the moves that make a fleet cheaper, within the budgets and SpotPolicies of the pools, and likely to work with the scheduler. In
 * slices. The autoscaler carries them out, and `spindrift plan --consolidate` shows them.
 */
import { consolidateSteps } from '../../../engine/consolidation/consolidate.ts';
import type { Fleet, ConsolidationOptions as PlanOptions } from '../../../engine/consolidation/fleet.ts';
import { type ForecastOptions, forecast } from '../../../engine/consolidation/forecast.ts';
import type { ConsolidationPlan, Move } from '../../../engine/consolidation/plan.ts';
import type { Slices } from '../../../engine/packing/work.ts';
import type { BuiltFleet } from '../../../state/build-fleet.ts';
import type { Command } from '../commands/command.ts';
import {
  type CommandParts,
  commandsOfPlan,
  type FollowingMove,
  giveBudgetBack,
  type PlannedCommands,
  type PlannedMove,
} from './commands-of-plan.ts';
import { stricterFleets } from './stricter-fleets.ts';
import { type PolicyCircumstances, withinPolicies } from './within-policies.ts';

/** What planning needs. */
export interface PlanningParts extends Omit<CommandParts, 'settle' | 'paid'>, PolicyCircumstances {
  /** The limits of a plan; called before each one, because its time starts then. */
  options(): PlanOptions;
  /** The forecast that moves must pass if the scheduler places their pods. */
  readonly test: ForecastOptions;
}

/** A plan and its commands. */
export interface PlannedMoves extends PlannedCommands {
  readonly plan: ConsolidationPlan;
  /** Moves that the SpotPolicies do not allow, and why. */
  readonly refused: ReadonlyMap<Move, string>;
  /** Moves whose pods would probably not all fit where the scheduler places them. */
  readonly unlikely: readonly Move[];
}

/** Plans without regard to SpotPolicies first. If they allow no move of it, plans again for fleets without the refused moves. */
export function* planMoves(built: BuiltFleet, parts: PlanningParts): Slices<PlannedMoves> {
  const first = yield* attempt(built, parts);
  if (first.now.length > 0 || first.refused.size === 0) return first;
  for (const fleet of stricterFleets(built, parts)) {
    yield;
    const other = yield* attempt({ ...built, fleet }, parts);
    if (other.now.length > 0) return other;
  }
  return first;
}

function* attempt(built: BuiltFleet, parts: PlanningParts): Slices<PlannedMoves> {
  const plan = yield* consolidateSteps(built.fleet, parts.options());
  const refused = new Map<Move, string>();
  const judging = withinPolicies({ ...parts, built }, (move, because) => refused.set(move, because));
  const { now, next, later } = yield* commandsOfPlan(plan.moves, built, { ...parts, ...judging });
  // Ordered: a move comes after all that it follows.
  const all: readonly AnyMove[] = [...now, ...next];
  const likely = yield* likelyMoves(all, built.fleet, parts.test);
  const lasting = all.filter(withAllTheyFollow(all, ({ command }) => likely.has(command)));
  const within = confirmed(lasting, { ...parts, built });
  const isKept = withAllTheyFollow(lasting, ({ command }) => within.has(command));
  const kept = new Set(lasting.filter(isKept));
  for (const one of all) if (!kept.has(one)) giveBudgetBack(one.command, parts.budgets);
  for (const one of lasting) if (!kept.has(one)) refused.set(one.planned, NOT_DONE);
  return {
    ...{ plan, refused, later },
    unlikely: all.filter((one) => !lasting.includes(one)).map(({ planned }) => planned),
    now: now.filter((one) => kept.has(one)),
    next: next.filter((one) => kept.has(one)),
  };
}

type AnyMove = PlannedMove & Partial<FollowingMove>;

const NOT_DONE = 'its SpotPolicy allows it only together with moves that were dropped';

/** Whether a move and all moves that it follows are good. */
function withAllTheyFollow(moves: readonly AnyMove[], isGood: (move: AnyMove) => boolean): (move: AnyMove) => boolean {
  const good = new Set<Command>();
  for (const move of moves)
    if (isGood(move) && (move.follows ?? []).every((other) => good.has(other))) good.add(move.command);
  return ({ command }) => good.has(command);
}

/** The commands of the moves that succeed even if the scheduler places the pods in its own way. */
function* likelyMoves(moves: readonly AnyMove[], fleet: Fleet, test: ForecastOptions): Slices<ReadonlySet<Command>> {
  // Pods that we bind to reserved nodes are not the scheduler's to place.
  const steered = steeredMoves(fleet, moves);
  const open = moves.filter((one) => !steered.has(one));
  const numbers = yield* forecast(
    fleet,
    open.map(({ move }) => move),
    test,
  );
  return new Set([...steered, ...open.filter((_, index) => numbers.has(index))].map(({ command }) => command));
}

/** The commands of the moves that the SpotPolicies still allow without the moves that were dropped since the first check. */
export function confirmed(
  moves: readonly PlannedMove[],
  circumstances: PolicyCircumstances & { readonly built: BuiltFleet },
): ReadonlySet<Command> {
  const { settle } = withinPolicies(circumstances, () => {});
  const isAsMade = ({ move }: PlannedMove): boolean => {
    const settled = settle(move);
    return (
      settled?.newNodes.every(({ offerings }, index) => offerings[0] === move.newNodes[index]?.offerings[0]) ?? false
    );
  };
  return new Set(moves.filter(isAsMade).map(({ command }) => command));
}

/** The moves whose pods we can all bind ourselves: to new nodes, or to nodes that are cordoned meanwhile. */
function steeredMoves({ pods }: Fleet, moves: readonly PlannedMove[]): ReadonlySet<PlannedMove> {
  const steerable = new Set(pods.filter((pod) => pod.steerable === true).map(({ name }) => name));
  return new Set(
    moves.filter(
      ({ move: { landings, newNodes, fills = [] } }) =>
        newNodes.length + fills.length > 0 &&
        landings.every((one) => ('move' in one || fills.includes(one.node)) && steerable.has(one.pod)),
    ),
  );
}
