/**
 * Predicts which moves still work when kube-scheduler places the pods. The plan has a place for every pod, but the
 * scheduler puts each evicted pod on the node with the most room left. Pods scattered over several nodes may fill the room
 * meant for a large pod. A move is worth its evictions only if it works then, too.
 *
 * The forecast places the pods of one move after another as kube-scheduler does by default, on nodes that stay and on new ones.
 */
import { SchedulerBoard } from '../forecast/scheduler-board.ts';
import { type Slices, UNLIMITED, Work } from '../packing/work.ts';
import type { Fleet, FleetNode } from './fleet.ts';
import { launchedNode } from './launched-node.ts';
import type { Move } from './plan.ts';

/** How strictly moves are tested. */
export interface ForecastOptions {
  /** The order in which the scheduler places the pods of a move; smallest first wastes the most room. */
  readonly order: 'largest-first' | 'smallest-first';
  /** The share of each node that must stay free. */
  readonly slack: number;
  /** The share of a move's savings that may be lost to nodes for pods that do not fit. */
  readonly losable: number;
  /** Whether no pods may be left to the scheduler for now: then only moves without pods survive. */
  readonly paused?: boolean;
}

/** The moves that work, by their index in the list. */
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
  // Bound pods on removed nodes are still there when the evicted pods are scheduled.
  for (const pod of fleet.boundPods ?? []) {
    board.stand(pod);
    if (work.spend(2)) yield;
  }
  for (const [index, move] of moves.entries()) {
    for (const [place, node] of move.newNodes.entries()) {
      board.add(launchedNode(fleet, node, `new/${index}/${place}`), true, slack);
    }
    // The scheduler does not count pods that are terminating.
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
    // The move is rejected: its nodes stay with their pods, and its new nodes are not launched.
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

/** The average price of a node per unit of size. */
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

/** A node launched for pods that fit nowhere is usually larger than they are. */
const MISFIT_PRICE = 1.5;
