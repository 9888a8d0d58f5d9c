/**
 * From a fleet to the moves that make it cheaper and can be made: within the budgets and the policies of the pools, and sure to work
 * out. In slices; the autoscaler carries them out, and `spindrift plan --consolidate` shows them.
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

/** What moves are planned with. */
export interface PlanningParts extends Omit<CommandParts, 'settle' | 'paid'>, PolicyCircumstances {
  /** How hard to look, from now on: it is asked before each plan. */
  options(): PlanOptions;
  /** What moves are put to that leave it to the scheduler where pods go. */
  readonly test: ForecastOptions;
}

/** What was planned, and what comes of it. */
export interface PlannedMoves extends PlannedCommands {
  readonly plan: ConsolidationPlan;
  /** Moves of the plan that policies do not let be made, and why. */
  readonly refused: ReadonlyMap<Move, string>;
  /** Moves of the plan whose pods would not all fit where the scheduler is likely to put them. */
  readonly unlikely: readonly Move[];
}

/**
 * The cheapest plan is made first, whatever policies say. Where they let nothing of it be made, others are looked for that do without
 * what was refused.
 */
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
  // Those that follow come after those that they follow.
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

const NOT_DONE = 'what other moves were to do for its SpotPolicy is not done';

/** Tells of moves that are good whether all that they follow are good too. */
function withAllTheyFollow(moves: readonly AnyMove[], isGood: (move: AnyMove) => boolean): (move: AnyMove) => boolean {
  const good = new Set<Command>();
  for (const move of moves)
    if (isGood(move) && (move.follows ?? []).every((other) => good.has(other))) good.add(move.command);
  return ({ command }) => good.has(command);
}

/** The commands of those moves that work out also when the scheduler places the pods in its own way. */
function* likelyMoves(moves: readonly AnyMove[], fleet: Fleet, test: ForecastOptions): Slices<ReadonlySet<Command>> {
  // Where all pods go to new nodes that are kept for them, the scheduler has no say.
  const steered = steeredMoves(fleet, moves);
  const open = moves.filter((one) => !steered.has(one));
  const numbers = yield* forecast(
    fleet,
    open.map(({ move }) => move),
    test,
  );
  return new Set([...steered, ...open.filter((_, index) => numbers.has(index))].map(({ command }) => command));
}

/**
 * The commands of those moves that are within the policies without the moves that fell away since they were judged: what was allowed
 * was counted as done.
 */
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

/** Those of the moves whose pods all go to where they can be put: to new nodes, or to nodes that are closed to others meanwhile. */
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
