/**
 * Which moves survive that somebody else places the pods. A plan has a place for every pod, but when pods are evicted it is
 * the scheduler that places them, each on the node with most room left, and what it scatters over several nodes may have
 * filled the one hole that a large pod was meant for. A move is worth its evictions only if it works out that way too.
 *
 * The forecast places the pods of one move after the other as kube-scheduler does by default, on nodes that stay and on new ones.
 */
import { SchedulerBoard } from '../forecast/scheduler-board.ts';
import { type Slices, UNLIMITED, Work } from '../packing/work.ts';
import type { Fleet, FleetNode } from './fleet.ts';
import { launchedNode } from './launched-node.ts';
import type { Move } from './plan.ts';

/** How hard moves are put to the test. */
export interface ForecastOptions {
  /** In which order the scheduler comes across the pods of a move: with the smallest first they waste most room. */
  readonly order: 'largest-first' | 'smallest-first';
  /** The share of each node that has to be left free. */
  readonly slack: number;
  /** The share of what a move saves that may be lost again to machines for pods that do not fit. */
  readonly losable: number;
  /** Whether nothing is to be left to the scheduler for now: then only moves work out that move no pods. */
  readonly paused?: boolean;
}

/** The moves that work out, by their number in the list. */
export function* forecast(
  fleet: Fleet,
  moves: readonly Move[],
  { order, slack, losable, paused = false }: ForecastOptions,
): Slices<ReadonlySet<number>> {
  const work = new Work(UNLIMITED);
  if (paused) return new Set([...moves.keys()].filter((index) => moves[index]?.landings.length === 0));
  const survivors = new Set<number>();
  if (moves.length === 0) return survivors;
  const sign = order === 'smallest-first' ? 1 : -1;
  const board = new SchedulerBoard(
    fleet.groups,
    fleet.nodes.length + moves.reduce((sum, { newNodes }) => sum + newNodes.length, 0),
  );
  const going = new Set(moves.flatMap(({ nodes }) => nodes));
  for (const node of fleet.nodes) {
    board.add(node, node.closed !== true && !going.has(node.name), slack);
    if (work.spend(5)) yield;
  }
  const unitPrice = unitPriceOf(board, fleet.nodes);
  const podsOn = new Map<string, number[]>();
  for (const { node, group } of fleet.pods) {
    const list = podsOn.get(node) ?? [];
    list.push(group);
    podsOn.set(node, list);
    board.take(board.numberOf(node), group, 1);
    if (work.spend(2)) yield;
  }
  // Those that stay on nodes that go are there when the others look for a place.
  for (const pod of fleet.boundPods ?? []) {
    board.stand(pod);
    if (work.spend(2)) yield;
  }
  for (const [index, move] of moves.entries()) {
    for (const [place, node] of move.newNodes.entries()) {
      board.add(launchedNode(fleet, node, `new/${index}/${place}`), true, slack);
    }
    // The scheduler does not count pods that leave.
    const leaving = move.nodes.flatMap((name) => {
      const node = board.numberOf(name);
      return (podsOn.get(name) ?? []).map((group) => ({ node, group }));
    });
    for (const { node, group } of leaving) board.take(node, group, -1);
    const pods = leaving.map(({ group }) => group);
    pods.sort((a, b) => sign * (board.size(a) - board.size(b)));
    const placed: { node: number; group: number }[] = [];
    let misfits = 0;
    for (const group of pods) {
      const node = board.choose(group);
      if (work.spend(board.length / 10)) yield;
      if (node < 0) {
        misfits += board.size(group);
        if (misfits * MISFIT_PRICE * unitPrice > losable * move.savings) break;
        continue;
      }
      board.take(node, group, 1);
      placed.push({ node, group });
    }
    if (misfits * MISFIT_PRICE * unitPrice <= losable * move.savings) {
      survivors.add(index);
      continue;
    }
    // It is not begun: its nodes stay, with their pods, and its new nodes do not come.
    for (const { node, group } of placed) board.take(node, group, -1);
    for (const { node, group } of leaving) board.take(node, group, 1);
    for (const name of move.nodes) board.setOpen(board.numberOf(name), !isClosed(fleet, board.numberOf(name)));
    for (const place of move.newNodes.keys()) board.setOpen(board.numberOf(`new/${index}/${place}`), false);
  }
  return survivors;
}

function isClosed(fleet: Fleet, node: number): boolean {
  return fleet.nodes[node]?.closed === true;
}

/** What a machine costs for its size, on average. */
function unitPriceOf(board: SchedulerBoard, nodes: readonly FleetNode[]): number {
  let price = 0;
  let size = 0;
  for (const [node, { price: each }] of nodes.entries()) {
    if (each === 0) continue;
    price += each;
    size += board.sizeOfNode(node);
  }
  return size === 0 ? 0 : price / size;
}

/** What is launched for pods that fit nowhere is mostly larger than they are. */
const MISFIT_PRICE = 1.5;
