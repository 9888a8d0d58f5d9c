/**
 * Where pods land when it is the scheduler that places them. A plan has a place for every pod, but what comes after pods that leave
 * their node finds all nodes that are open: it goes to the one with most room, also where it was to go to a node that is still to come,
 * and may take the one hole that a large pod was meant for.
 *
 * Nobody knows in which order they come, so it is asked of several. Those with rules about other pods, ports or volumes land as planned.
 */
import { launchedNode } from '../consolidation/launched-node.ts';
import { type Slices, UNLIMITED, Work } from '../packing/work.ts';
import type { ExistingNode, PodGroup, Problem, Resources } from '../problem.ts';
import type { Solution } from '../solution.ts';
import { SchedulerBoard } from './scheduler-board.ts';

export interface Landings {
  /** The node that is open now on which a pod lands, by pod number. */
  readonly on: ReadonlyMap<number, string>;
  /** Pods that find no place, on nodes that are there or on those that come. */
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
  readonly planned: number;
}

export function* landings({
  problem,
  solution,
  leaving,
  order,
  isOpen,
  allocatableOf,
}: LandingsQuestion): Slices<Landings> {
  const { pods: groups, nodes = [] } = problem;
  const work = new Work(UNLIMITED);
  const board = new SchedulerBoard(groups, nodes.length + solution.newNodes.length);
  for (const node of nodes) {
    board.add({ ...node, allocatable: allocatableOf(node) ?? node.free }, isOpen(node));
    if (work.spend(5)) yield;
  }
  for (const [index, node] of solution.newNodes.entries()) {
    board.add(launchedNode(problem, node, newName(index)), false);
    if (work.spend(5)) yield;
  }
  for (const pod of problem.boundPods ?? []) {
    board.stand(pod);
    if (work.spend(2)) yield;
  }
  const groupOf = groupsByPod(groups);
  const scheduled: Landing[] = [];
  const placements = [
    ...solution.existing.map(({ node, pods }) => ({ node, pods })),
    ...solution.newNodes.map(({ pods }, index) => ({ node: newName(index), pods })),
  ];
  for (const { node, pods } of placements) {
    const planned = board.numberOf(node);
    for (const pod of pods) {
      const group = groupOf[pod] as number;
      if (leaving.has(pod) && !hasOtherRules(groups[group] as PodGroup)) scheduled.push({ pod, group, planned });
      else board.take(planned, group, 1);
      if (work.spend(2)) yield;
    }
  }
  scheduled.sort((a, b) => board.size(a.group) - board.size(b.group));
  const on = new Map<number, string>();
  const late: Landing[] = [];
  for (const landing of arriving(scheduled, order)) {
    const node = board.choose(landing.group);
    if (work.spend(board.length / 10)) yield;
    if (node < 0) late.push(landing);
    else {
      board.take(node, landing.group, 1);
      on.set(landing.pod, board.nameOf(node));
    }
  }
  // The others wait for the nodes that come: whoever has a place there is put on it, and leaves the rest to those who have none.
  const isHere = (node: number): boolean => nodes[node] !== undefined && isOpen(nodes[node] as ExistingNode);
  for (const { group, planned } of late) if (!isHere(planned)) board.take(planned, group, 1);
  for (let node = 0; node < board.length; node++) board.setOpen(node, nodes[node]?.leaving !== true);
  const strays: number[] = [];
  for (const { pod, group, planned } of late) {
    if (!isHere(planned)) continue;
    const node = board.choose(group);
    if (work.spend(board.length / 10)) yield;
    if (node < 0) strays.push(pod);
    else board.take(node, group, 1);
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

function newName(index: number): string {
  return `new/${index}`;
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
