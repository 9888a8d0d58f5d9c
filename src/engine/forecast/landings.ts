/**
 * Predicts where kube-scheduler places pods that leave their nodes. The plan has a place for every pod, but a recreated
 * pod goes to the open node with the most room, even if a node not launched yet was planned for it. So it may take the
 * room meant for a large pod.
 *
 * The order in which pods arrive is unknown, so several orders are tried. Pods with rules about other pods, ports or
 * volumes are assumed to land as planned.
 */
import { type Slices, UNLIMITED, Work } from '../packing/work.ts';
import type { ExistingNode, PodGroup, Problem, Resources } from '../problem.ts';
import type { Solution } from '../solution.ts';
import { SchedulerBoard } from './scheduler-board.ts';

export interface Landings {
  /** The open node each pod lands on, by pod number. */
  readonly on: ReadonlyMap<number, string>;
  /** Pods planned for an open node that find no room on any. */
  readonly strays: readonly number[];
}

/** The order in which pods arrive: by size, or large and small pods alternating. */
export type ArrivalOrder = 'smallest-first' | 'largest-first' | 'by-turns';
export const ARRIVAL_ORDERS: readonly ArrivalOrder[] = ['by-turns', 'smallest-first', 'largest-first'];

export interface LandingsQuestion {
  readonly problem: Problem;
  readonly solution: Pick<Solution, 'existing' | 'newNodes'>;
  /** Numbers of the pods that leave their node; all others are placed as planned. */
  readonly leaving: ReadonlySet<number>;
  readonly order: ArrivalOrder;
  /** Whether the scheduler can already place pods on a node. */
  isOpen(node: ExistingNode): boolean;
  /** The node's total allocatable for pods, if known. */
  allocatableOf(node: ExistingNode): Resources | undefined;
}

/** A pod to be placed. */
interface Landing {
  readonly pod: number;
  readonly group: number;
  /** Whether it was planned for an open node. */
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

/** Puts landings, sorted by size, into the order of arrival. */
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
