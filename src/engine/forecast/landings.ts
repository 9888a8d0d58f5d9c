/**
 * Where pods land when it is the scheduler that places them. A plan has a place for every pod, but what comes after pods that leave
 * their node finds all nodes that are open: it goes to the one with most room, also where it was to go to a node that is still to come,
 * and may take the one hole that a large pod was meant for.
 *
 * Nobody knows in which order they come, so it is asked of several. Those with rules about other pods, ports or volumes land as planned.
 */
import { type Slices, UNLIMITED, Work } from '../packing/work.ts';
import type { ExistingNode, PodGroup, Problem, Resources } from '../problem.ts';
import type { Solution } from '../solution.ts';
import { SchedulerBoard } from './scheduler-board.ts';

export interface Landings {
  /** The node that is open now on which a pod lands, by pod number. */
  readonly on: ReadonlyMap<number, string>;
  /** Pods that were to go to such a node, and find no room on any. */
  readonly strays: readonly number[];
}

/** In which order pods come: by their size, or one large and one small by turns. */
export type ArrivalOrder = 'smallest-first' | 'largest-first' | 'by-turns';
export const ARRIVAL_ORDERS: readonly ArrivalOrder[] = ['by-turns', 'smallest-first', 'largest-first'];

export interface LandingsQuestion {
  readonly problem: Problem;
  readonly solution: Pick<Solution, 'existing' | 'newNodes'>;
  /** Numbers of the pods that are to leave their node; the others go where they were planned. */
  readonly leaving: ReadonlySet<number>;
  readonly order: ArrivalOrder;
  /** Whether the scheduler can put pods on a node by now. */
  isOpen(node: ExistingNode): boolean;
  /** What pods can take of a node in all, where that is known. */
  allocatableOf(node: ExistingNode): Resources | undefined;
}

/** A pod on its way. */
interface Landing {
  readonly pod: number;
  readonly group: number;
  /** Whether it was to go to a node that is open. */
  readonly toOpen: boolean;
}

export function* landings(question: LandingsQuestion): Slices<Landings> {
  const { problem, solution, leaving, order, isOpen, allocatableOf } = question;
  const { pods: groups, nodes = [] } = problem;
  const work = new Work(UNLIMITED);
  const board = new SchedulerBoard(groups, nodes.length);
  for (const node of nodes) {
    board.add({ ...node, allocatable: allocatableOf(node) ?? node.free }, isOpen(node));
    if (work.spend(5)) yield;
  }
  for (const pod of problem.boundPods ?? []) {
    board.stand(pod);
    if (work.spend(2)) yield;
  }
  const groupOf = groupsByPod(groups);
  const scheduled: Landing[] = [];
  for (const { node, pods } of [...solution.existing, ...solution.newNodes.map(({ pods }) => ({ node: '', pods }))]) {
    const planned = board.numberOf(node);
    const toOpen = nodes[planned] !== undefined && isOpen(nodes[planned]);
    for (const pod of pods) {
      const group = groupOf[pod] as number;
      if (leaving.has(pod) && !hasOtherRules(groups[group] as PodGroup)) scheduled.push({ pod, group, toOpen });
      else if (planned >= 0) board.take(planned, group, 1);
      if (work.spend(2)) yield;
    }
  }
  scheduled.sort((a, b) => board.size(a.group) - board.size(b.group));
  const on = new Map<number, string>();
  const strays: number[] = [];
  for (const { pod, group, toOpen } of arriving(scheduled, order)) {
    const node = board.choose(group);
    if (work.spend(board.length / 10)) yield;
    if (node < 0) {
      if (toOpen) strays.push(pod);
      continue;
    }
    board.take(node, group, 1);
    on.set(pod, board.nameOf(node));
  }
  return { on, strays };
}

/** Landings that are sorted by size, in the order in which they come. */
function arriving(sorted: readonly Landing[], order: ArrivalOrder): readonly Landing[] {
  if (order === 'smallest-first') return sorted;
  const largest = sorted.toReversed();
  if (order === 'largest-first') return largest;
  return sorted.flatMap((small, index) => [largest[index] as Landing, small]).slice(0, sorted.length);
}

function hasOtherRules({ podAffinity, podAntiAffinity, hostPorts, volumeAttachments }: PodGroup): boolean {
  const rules = [podAffinity, podAntiAffinity, hostPorts, Object.keys(volumeAttachments ?? {})];
  return rules.some((list) => list !== undefined && list.length > 0);
}

/** By pod number, the number of its group. */
function groupsByPod(groups: readonly PodGroup[]): Int32Array {
  const total = groups.reduce((sum, { count = 1 }) => sum + count, 0);
  const groupOf = new Int32Array(total);
  let pod = 0;
  for (const [group, { count = 1 }] of groups.entries()) {
    groupOf.fill(group, pod, pod + count);
    pod += count;
  }
  return groupOf;
}
