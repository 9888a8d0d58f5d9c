/** Turns planned moves into disruption commands, within the budgets that are left; what the commands use is taken from these. */
import type { NodePool } from '../../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { Move } from '../../../engine/consolidation/plan.ts';
import { firstRefused } from '../../../engine/consolidation/pool-budgets.ts';
import type { Slices } from '../../../engine/packing/work.ts';
import type { NewNode } from '../../../engine/solution.ts';
import type { BuiltFleet } from '../../../state/build-fleet.ts';
import { isVirtualPod } from '../../../state/virtual-pod.ts';
import type { Budgets } from '../budgets/budgets.ts';
import { type Candidate, withPods } from '../candidate.ts';
import type { Command, FilledNode, PlannedNode } from '../commands/command.ts';
import { launchWaits } from './launch-waits.ts';

/** A move of a plan, and its command. */
export interface PlannedMove {
  /** The move as the SpotPolicies allow it. */
  readonly move: Move;
  /** The move as the plan has it. */
  readonly planned: Move;
  readonly command: Command;
}

/** The moves of a plan by when they can begin. */
export interface PlannedCommands {
  /** Moves to begin now. They do not depend on each other. */
  readonly now: readonly PlannedMove[];
  /** Moves whose pods go to new nodes of other moves: they begin when the claims of these are written. */
  readonly next: readonly FollowingMove[];
  /**
   * Moves that need something that another move frees first: a slot of a reservation, room below a limit or in a budget. They are not kept:
   * the next plan finds them again.
   */
  readonly later: readonly Move[];
}

/** A move whose pods go to new nodes of other moves. */
export interface FollowingMove extends PlannedMove {
  /** The commands that launch these nodes. */
  readonly follows: readonly Command[];
}

/** What is needed to turn moves into commands. */
export interface CommandParts {
  /** The node as a candidate; undefined if it cannot be one. */
  candidate(node: string): Candidate | undefined;
  readonly poolNamed: ReadonlyMap<string, NodePool>;
  /** The move as the SpotPolicies allow it; undefined if they do not. */
  settle(move: Move): Move | undefined;
  /** The new node at market prices, without the risk that planning adds to them. */
  paid(node: NewNode): NewNode;
  /** Budgets that the commands are taken from. */
  readonly budgets: Budgets;
  newId(): string;
}

/** Looks up the nodes of a fleet as candidates. */
export function candidatesAmong(
  { states }: Pick<BuiltFleet, 'states'>,
  context: Parameters<typeof withPods>[1],
): CommandParts['candidate'] {
  return (name) => {
    const state = states.get(name);
    const found = state && withPods(state, context);
    return found === undefined || 'why' in found ? undefined : found;
  };
}

/** Yields after this many moves. */
const MADE_TOGETHER = 20;

/** The commands of a plan, in its order, within the budgets; in slices. */
export function* commandsOfPlan(
  moves: readonly Move[],
  built: BuiltFleet,
  parts: CommandParts,
): Slices<PlannedCommands> {
  const now: PlannedMove[] = [];
  const next: FollowingMove[] = [];
  const later: Move[] = [];
  const made = new Map<number, Command>();
  const waits = launchWaits(built.fleet);
  for (const [index, move] of moves.entries()) {
    if (index % MADE_TOGETHER === 0) yield;
    const others = otherMoves(move, index);
    const candidates = candidatesOf(move, parts);
    // `settle` and `waits` count a move that they allow as done, so they are asked last.
    if (others.some((other) => !made.has(other)) || candidates === undefined || !isWithin(move, candidates, parts)) {
      later.push(move);
      continue;
    }
    const settled = parts.settle(move);
    if (settled === undefined) continue;
    const command = waits(settled) ? undefined : commandOf(settled, candidates, built, parts);
    if (command === undefined || !takeBudget(command, parts.budgets)) {
      later.push(move);
      continue;
    }
    made.set(index, command);
    if (others.length === 0) now.push({ move: settled, planned: move, command });
    else
      next.push({ move: settled, planned: move, command, follows: others.flatMap((other) => made.get(other) ?? []) });
  }
  return { now, next, later };
}

/** The moves whose new nodes pods of a move land on. */
function otherMoves({ landings }: Move, index: number): number[] {
  const others = landings.flatMap((landing) => ('move' in landing && landing.move !== index ? [landing.move] : []));
  return [...new Set(others)];
}

/** Undefined if a node of the move no longer exists. */
function candidatesOf({ nodes }: Move, parts: CommandParts): readonly Candidate[] | undefined {
  const candidates: Candidate[] = [];
  for (const name of nodes) {
    const candidate = parts.candidate(name);
    if (candidate === undefined) return undefined;
    candidates.push(candidate);
  }
  return candidates;
}

/** Undefined if a pool of the move no longer exists. */
function commandOf(
  move: Move,
  candidates: readonly Candidate[],
  built: BuiltFleet,
  parts: CommandParts,
): Command | undefined {
  const { cloudName, pods } = built;
  const newNodes: PlannedNode[] = [];
  for (const node of move.newNodes) {
    const pool = parts.poolNamed.get(node.pool);
    if (pool === undefined) return undefined;
    // A virtual pod is not recreated: the next provisioning round finds room for it again.
    const own = node.pods.map((number) => pods[number] as Pod).filter((pod) => !isVirtualPod(pod));
    newNodes.push({ node: parts.paid(node), pool, cloudName, pods: own });
  }
  const receivers = new Set(move.landings.flatMap((landing) => ('node' in landing ? [landing.node] : [])));
  return {
    id: parts.newId(),
    reason: move.reason,
    disruption: 'graceful',
    candidates,
    newNodes,
    ...filling(move, built),
    receivers: [...receivers],
  };
}

/** The existing nodes that the move fills, with their pods. The command needs them as it needs new nodes. */
function filling(
  { fills = [], landings }: Move,
  { fleet, pods, states }: BuiltFleet,
): Pick<Command, 'needs' | 'fills'> {
  if (fills.length === 0) return { needs: [] };
  const podNamed = new Map(fleet.pods.map(({ name }, index) => [name, pods[index] as Pod]));
  const filled = fills.flatMap((node): FilledNode[] => {
    const claim = states.get(node)?.claim?.metadata.name;
    const own = landings.flatMap((one) => ('node' in one && one.node === node ? (podNamed.get(one.pod) ?? []) : []));
    return claim === undefined ? [] : [{ claim, node, pods: own }];
  });
  return { needs: filled.map(({ claim }) => claim), fills: filled };
}

/** Takes the candidates from the budgets of their pools; false if a budget does not allow it. */
export function takeBudget({ candidates, reason }: Pick<Command, 'candidates' | 'reason'>, budgets: Budgets): boolean {
  if (!isWithin({ reason }, candidates, { budgets })) return false;
  for (const { pool } of candidates) budgets.take(nameOf(pool));
  return true;
}

/** Returns the candidates of a command to the budgets. */
export function giveBudgetBack({ candidates }: Pick<Command, 'candidates'>, budgets: Budgets): void {
  for (const { pool } of candidates) budgets.take(nameOf(pool), -1);
}

function isWithin(
  { reason }: Pick<Command, 'reason'>,
  candidates: readonly Candidate[],
  { budgets }: Pick<CommandParts, 'budgets'>,
): boolean {
  const departures = candidates.map(({ pool }) => ({ pool: nameOf(pool), reason }));
  return firstRefused(departures, budgets) === undefined;
}

function nameOf({ metadata }: NodePool): string {
  return metadata.name ?? '';
}
