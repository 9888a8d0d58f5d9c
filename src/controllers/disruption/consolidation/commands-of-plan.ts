/** From the moves of a plan to what is to be done now. Pure. */
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../../apis/karpenter/node-pool.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { DisruptionReason } from '../../../engine/consolidation/fleet.ts';
import type { ConsolidationPlan, Landing, Move } from '../../../engine/consolidation/plan.ts';
import type { NewNode } from '../../../engine/solution.ts';
import type { BuiltFleet } from '../../../state/build-fleet.ts';
import { poolOf, type StateNode } from '../../../state/state-node.ts';
import type { Budgets } from '../budgets/budgets.ts';
import { launchWaits } from './launch-waits.ts';

/** A node that can be asked to go. */
export interface GoingNode extends StateNode {
  readonly node: Node;
  readonly claim: NodeClaim;
}

/** Some nodes go, others come, and every pod has a place. */
export interface ConsolidationCommand {
  readonly reason: DisruptionReason;
  readonly decision: 'delete' | 'replace';
  /** The nodes that go. */
  readonly nodes: readonly GoingNode[];
  /** What is launched before they go. */
  readonly newNodes: readonly { readonly node: NewNode; readonly pool: NodePool }[];
  /** What the cloud calls an instance type of the new nodes. */
  readonly cloudName: (instanceType: string) => string;
  /** Every pod of the nodes that go, largest first, with the node of the cluster or the new node it has room on. */
  readonly landings: readonly Landing[];
  /** USD per hour. */
  readonly savings: number;
  /** For people. */
  readonly sentence: string;
  readonly move: Move;
}

/** What a plan comes to. */
export interface PlannedCommands {
  /** To be started now. They do not depend on each other. */
  readonly commands: readonly ConsolidationCommand[];
  /**
   * Moves that need what another move makes first: a new node, a slot of a reservation, room below a limit or in a budget.
   * They are not kept: the plan that is made when the others are done finds them again, on the cluster as it is then.
   */
  readonly later: readonly Move[];
}

/** The commands of a plan, in its order, as far as the budgets go; what they use is taken from the budgets. */
export function commandsOfPlan(
  { moves }: Pick<ConsolidationPlan, 'moves'>,
  built: BuiltFleet,
  { pools, budgets }: { readonly pools: readonly NodePool[]; readonly budgets: Budgets },
): PlannedCommands {
  const poolNamed = new Map(pools.map((pool) => [pool.metadata.name ?? '', pool]));
  const commands: ConsolidationCommand[] = [];
  const later: Move[] = [];
  const waits = launchWaits(built.fleet);
  for (const [index, move] of moves.entries()) {
    const command = commandOf(move, built, poolNamed);
    const dependent = move.landings.some((landing) => 'move' in landing && landing.move !== index);
    if (command === undefined || dependent || waits(move) || !takeBudget(command, budgets)) later.push(move);
    else commands.push(command);
  }
  return { commands, later };
}

/** Undefined when a node or a pool of the move is not there. */
function commandOf(
  move: Move,
  { states, cloudName }: BuiltFleet,
  poolNamed: ReadonlyMap<string, NodePool>,
): ConsolidationCommand | undefined {
  const nodes = move.nodes.flatMap((name) => {
    const { node, claim } = states.get(name) ?? {};
    return node === undefined || claim === undefined ? [] : [{ name, node, claim }];
  });
  const newNodes = move.newNodes.flatMap((node) => {
    const pool = poolNamed.get(node.pool);
    return pool === undefined ? [] : [{ node, pool }];
  });
  if (nodes.length < move.nodes.length || newNodes.length < move.newNodes.length) return undefined;
  const { reason, landings, savings, sentence } = move;
  const decision = newNodes.length === 0 ? 'delete' : 'replace';
  return { reason, decision, nodes, newNodes, cloudName, landings, savings, sentence, move };
}

/** Whether every pool can spare its nodes, which are then taken. */
export function takeBudget(
  { nodes, reason }: Pick<ConsolidationCommand, 'nodes' | 'reason'>,
  budgets: Budgets,
): boolean {
  const needs = new Map<string, number>();
  for (const state of nodes) {
    const pool = poolOf(state) ?? '';
    needs.set(pool, (needs.get(pool) ?? 0) + 1);
  }
  for (const [pool, need] of needs) if (budgets.left(pool, reason) < need) return false;
  for (const [pool, need] of needs) budgets.take(pool, need);
  return true;
}
