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

/** A move of a plan, and what it comes to. */
export interface PlannedMove {
  /** As policies let it be done. */
  readonly move: Move;
  /** As the plan has it. */
  readonly planned: Move;
  readonly command: Command;
}

/** What a plan comes to. */
export interface PlannedCommands {
  /** To be begun now. They do not depend on each other. */
  readonly now: readonly PlannedMove[];
  /** To be begun as soon as the claims of others are there, whose new nodes their pods are to go to. */
  readonly next: readonly FollowingMove[];
  /**
   * Moves that need what another move makes free first: a slot of a reservation, room below a limit or in a budget. They are
   * not kept: the plan that is made when the others are done finds them again, on the cluster as it is then.
   */
  readonly later: readonly Move[];
}

/** A move whose pods go to new nodes of others. */
export interface FollowingMove extends PlannedMove {
  /** The commands that launch them. */
  readonly follows: readonly Command[];
}

/** What moves are made commands with. */
export interface CommandParts {
  /** The node of the fleet as something that can go; undefined if it cannot. */
  candidate(node: string): Candidate | undefined;
  readonly poolNamed: ReadonlyMap<string, NodePool>;
  /** The move as policies let it be done; undefined if they do not. */
  settle(move: Move): Move | undefined;
  /** The node at the price that is paid for it. */
  paid(node: NewNode): NewNode;
  /** What the commands use is taken from them. */
  readonly budgets: Budgets;
  newId(): string;
}

/** The nodes of a fleet as things that can go. */
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

/** So many moves are made commands before others may run. */
const MADE_TOGETHER = 20;

/** The commands of a plan, in its order, as far as the budgets go; in slices. */
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
    // Policies and launches count what they allow as done: they are asked last.
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

/** Undefined when a node of the move is not there. */
function candidatesOf({ nodes }: Move, parts: CommandParts): readonly Candidate[] | undefined {
  const candidates: Candidate[] = [];
  for (const name of nodes) {
    const candidate = parts.candidate(name);
    if (candidate === undefined) return undefined;
    candidates.push(candidate);
  }
  return candidates;
}

/** Undefined when a pool of the move is not there. */
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
    // Nobody comes after a virtual pod: the next round of provisioning finds its room again.
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

/** The nodes that are to be filled as planned, with the pods that leave for them; the command needs them as it needs those that come. */
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

/** Whether every pool can spare its nodes, which are then taken. */
export function takeBudget({ candidates, reason }: Pick<Command, 'candidates' | 'reason'>, budgets: Budgets): boolean {
  if (!isWithin({ reason }, candidates, { budgets })) return false;
  for (const { pool } of candidates) budgets.take(nameOf(pool));
  return true;
}

/** The nodes of a command do not go after all. */
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
