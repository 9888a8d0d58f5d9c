/**
 * Which moves survive that somebody else places the pods. A plan has a place for every pod, but when pods are evicted it is
 * the scheduler that places them, each on the node with most room left, and what it scatters over several nodes may have
 * filled the one hole that a large pod was meant for. A move is worth its evictions only if it works out that way too.
 *
 * The forecast places the pods of one move after the other as kube-scheduler does by default (NodeResourcesFit with
 * LeastAllocated), largest first, on nodes that stay and on new ones; topology is left out of account.
 */
import { type Slices, Work } from '../packing/work.ts';
import type { PodGroup, Resources } from '../problem.ts';
import { satisfies } from '../requirements/label-match.ts';
import { untolerated } from '../requirements/taints.ts';
import type { Fleet, FleetNode } from './fleet.ts';
import { launchedNode } from './launched-node.ts';
import type { Move } from './plan.ts';

const UNLIMITED = {
  deadlineMs: Number.POSITIVE_INFINITY,
  maxSteps: Number.POSITIVE_INFINITY,
  elapsedMs: undefined,
};

/** The moves that work out, by their number in the list. */
export function* forecast(fleet: Fleet, moves: readonly Move[]): Slices<ReadonlySet<number>> {
  const work = new Work(UNLIMITED);
  const survivors = new Set<number>();
  if (moves.length === 0) return survivors;
  const board = new Board(fleet);
  const going = new Set(moves.flatMap(({ nodes }) => nodes));
  for (const node of fleet.nodes) {
    board.add(node, node.closed !== true && !going.has(node.name));
    if (work.spend(5)) yield;
  }
  const podsOn = new Map<string, number[]>();
  for (const { node, group } of fleet.pods) {
    const list = podsOn.get(node) ?? [];
    list.push(group);
    podsOn.set(node, list);
    board.take(board.numberOf(node), group, 1);
    if (work.spend(2)) yield;
  }
  for (const [index, move] of moves.entries()) {
    for (const [place, node] of move.newNodes.entries())
      board.add(launchedNode(fleet, node, `new/${index}/${place}`), true);
  }
  for (const [index, move] of moves.entries()) {
    const pods = move.nodes.flatMap((name) => podsOn.get(name) ?? []).sort((a, b) => board.size(b) - board.size(a));
    const placed: { node: number; group: number }[] = [];
    for (const group of pods) {
      const node = board.roomiest(group);
      if (work.spend(board.length / 8)) yield;
      if (node < 0) break;
      board.take(node, group, 1);
      placed.push({ node, group });
    }
    if (placed.length === pods.length) {
      survivors.add(index);
      continue;
    }
    // It is not begun: its nodes stay, with their pods, and its new nodes do not come.
    for (const { node, group } of placed) board.take(node, group, -1);
    for (const name of move.nodes) board.setOpen(board.numberOf(name), !isClosed(fleet, board.numberOf(name)));
    for (const place of move.newNodes.keys()) board.setOpen(board.numberOf(`new/${index}/${place}`), false);
  }
  return survivors;
}

function isClosed(fleet: Fleet, node: number): boolean {
  return fleet.nodes[node]?.closed === true;
}

/** What is free on each node. */
class Board {
  readonly #groups: readonly PodGroup[];
  readonly #resources: readonly string[];
  /** By group, a row of amounts. */
  readonly #requests: Float64Array;
  readonly #nodes: FleetNode[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #open: boolean[] = [];
  /** By node, a row of amounts each. */
  readonly #free: number[] = [];
  readonly #capacity: number[] = [];
  /** By group, whether a node takes its pods; filled as it is asked. */
  readonly #admits: (boolean | undefined)[][];

  constructor({ groups }: Fleet) {
    this.#groups = groups;
    // The first two are what the scheduler looks at to tell which node has most room.
    this.#resources = [
      ...new Set(['cpu', 'memory', 'pods', ...groups.flatMap(({ requests }) => Object.keys(requests))]),
    ];
    this.#requests = Float64Array.from(groups.flatMap(({ requests }) => this.#row({ pods: 1, ...requests })));
    this.#admits = groups.map(() => []);
  }

  get length(): number {
    return this.#nodes.length;
  }

  add(node: FleetNode, open: boolean): void {
    this.#numbers.set(node.name, this.#nodes.length);
    this.#nodes.push(node);
    this.#open.push(open);
    const row = this.#row(node.allocatable);
    this.#free.push(...row);
    this.#capacity.push(...row);
  }

  numberOf(name: string): number {
    return this.#numbers.get(name) ?? -1;
  }

  setOpen(node: number, open: boolean): void {
    this.#open[node] = open;
  }

  /** How large pods of a group are, for putting them in order. */
  size(group: number): number {
    const width = this.#resources.length;
    return (this.#requests[group * width] as number) * GIB_PER_CORE + (this.#requests[group * width + 1] as number);
  }

  /** Puts so many pods of a group on a node. */
  take(node: number, group: number, count: number): void {
    const width = this.#resources.length;
    for (let column = 0; column < width; column++) {
      this.#free[node * width + column] =
        (this.#free[node * width + column] as number) - count * (this.#requests[group * width + column] as number);
    }
  }

  /** The node on which most is left when a pod of the group is there; -1 when it fits on none. */
  roomiest(group: number): number {
    const width = this.#resources.length;
    let best = -1;
    let most = Number.NEGATIVE_INFINITY;
    for (let node = 0; node < this.#nodes.length; node++) {
      if (!this.#open[node] || !this.#fits(group, node)) continue;
      const at = node * width;
      const cpu =
        ((this.#free[at] as number) - (this.#requests[group * width] as number)) / (this.#capacity[at] as number);
      const memory =
        ((this.#free[at + 1] as number) - (this.#requests[group * width + 1] as number)) /
        (this.#capacity[at + 1] as number);
      if (cpu + memory <= most || !this.#isAdmitted(group, node)) continue;
      most = cpu + memory;
      best = node;
    }
    return best;
  }

  #fits(group: number, node: number): boolean {
    const width = this.#resources.length;
    for (let column = 0; column < width; column++) {
      const wanted = this.#requests[group * width + column] as number;
      if (wanted > 0 && wanted > (this.#free[node * width + column] as number)) return false;
    }
    return true;
  }

  #isAdmitted(group: number, node: number): boolean {
    const row = this.#admits[group] as (boolean | undefined)[];
    const known = row[node];
    if (known !== undefined) return known;
    const admitted = admits(this.#groups[group] as PodGroup, this.#nodes[node] as FleetNode);
    row[node] = admitted;
    return admitted;
  }

  #row(amounts: Resources): number[] {
    return this.#resources.map((resource) => amounts[resource] ?? 0);
  }
}

/** A core weighs as much as this much memory, in bytes for a millicore: what machines mostly have. */
const GIB_PER_CORE = (4 * 1024 ** 3) / 1000;

function admits({ requirements = [], volumeRequirements = [], tolerations }: PodGroup, node: FleetNode): boolean {
  if (untolerated(node.taints, tolerations) !== undefined) return false;
  return [requirements, volumeRequirements].every(
    (alternatives) =>
      alternatives.length === 0 ||
      alternatives.some((list) => list.every((requirement) => satisfies(requirement, node.labels[requirement.key]))),
  );
}
