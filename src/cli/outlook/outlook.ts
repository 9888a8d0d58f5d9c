/**
 * What the running autoscaler would do to a fleet to make it cheaper, and why it leaves the other nodes alone: the same plan,
 * the same budgets, the same SpotPolicies and the same doubts about the scheduler. Pure but for the time it may take.
 */
import { Budgets } from '../../controllers/disruption/budgets/budgets.ts';
import { withPods } from '../../controllers/disruption/candidate.ts';
import type { Command } from '../../controllers/disruption/commands/command.ts';
import { Caution } from '../../controllers/disruption/consolidation/caution.ts';
import { commandsOfPlan, type PlannedMove } from '../../controllers/disruption/consolidation/commands-of-plan.ts';
import { withinPolicies } from '../../controllers/disruption/consolidation/within-policies.ts';
import type { SpotPolicies } from '../../controllers/spot-policy/spot-policies.ts';
import { consolidate } from '../../engine/consolidation/consolidate.ts';
import type { ConsolidationOptions } from '../../engine/consolidation/fleet.ts';
import { forecast } from '../../engine/consolidation/forecast.ts';
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
  const plan = consolidate(built.fleet, { evictInTurns: true, ...limits });
  const poolNamed = new Map(nodePools.map((pool) => [pool.metadata.name ?? '', pool]));
  const dropped = new Map<Move, string>();
  const settling = withinPolicies({ policies, pools, nodes, built }, (move, because) => dropped.set(move, because));
  /** By what the plan calls it, the move as it is made. */
  const settled = new Map<Move, Move>();
  const making = commandsOfPlan(plan.moves, built, {
    candidate: (name) => {
      const state = built.states.get(name);
      const found = state && withPods(state, { poolNamed, podsOn });
      return found === undefined || 'why' in found ? undefined : found;
    },
    poolNamed,
    ...settling,
    settle: (move) => {
      const made = settling.settle(move);
      if (made !== undefined) settled.set(move, made);
      return made;
    },
    budgets: given.budgets ?? new Budgets({ pools: nodePools, nodes, now }),
    newId: () => '',
  });
  const commands = finish(making);
  const lasting = lastingOf([...commands.now, ...commands.next], built);
  const begun = new Set(commands.now.map(({ command }) => command));
  const later = new Set(commands.later);
  const shown: { index: number; made: Move; begins: ExpectedMove['begins'] }[] = [];
  for (const [index, move] of plan.moves.entries()) {
    const made = settled.get(move) ?? move;
    const command = lasting.get(made);
    if (later.has(move)) shown.push({ index, made, begins: 'later' });
    else if (command === undefined) dropped.set(move, dropped.get(move) ?? UNLIKELY);
    else shown.push({ index, made, begins: begun.has(command) ? 'now' : 'next' });
  }
  const number = new Map(shown.map(({ index }, place) => [index, place + 1]));
  const moves = shown.map(({ index, made, begins }): ExpectedMove => {
    const others = made.landings.flatMap((landing) =>
      'move' in landing && landing.move !== index ? (number.get(landing.move) ?? []) : [],
    );
    const move = { ...made, newNodes: made.newNodes.map((node) => settling.paid(node)) };
    return { move, begins, after: [...new Set(others)].sort((a, b) => a - b) };
  });
  return { plan, built, moves, stays: staysOf(plan, dropped, snapshot, built) };
}

/** The commands of those moves that work out also when the scheduler places the pods in its own way. */
function lastingOf(
  all: readonly (PlannedMove & { readonly follows?: readonly Command[] })[],
  { fleet }: BuiltFleet,
): ReadonlyMap<Move, Command> {
  const moves = all.map(({ move }) => move);
  // How the latest moves turned out is known to the autoscaler alone; it may put these to a harder test.
  const numbers = finish(forecast(fleet, moves, new Caution().test));
  const commands = new Map<Move, Command>();
  const lasting = new Set<Command>();
  for (const [index, { move, command, follows = [] }] of all.entries()) {
    if (!numbers.has(index) || !follows.every((other) => lasting.has(other))) continue;
    lasting.add(command);
    commands.set(move, command);
  }
  return commands;
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
