/**
 * Which moves survive that somebody else places the pods. A plan has a place for every pod, but when pods are evicted it is
 * the scheduler that places them, each on the node with most room left, and what it scatters over several nodes may have
 * filled the one hole that a large pod was meant for. A move is worth its evictions only if it works out that way too.
 *
 * The forecast places the pods of one move after the other as kube-scheduler does by default (LeastAllocated,
 * BalancedAllocation, pods of one kind apart), on nodes that stay and on new ones, within the spreads that must be kept. Affinity
 * to other pods is left out of account.
 */
import { type Slices, UNLIMITED, Work } from '../packing/work.ts';
import type { BoundPod, PodGroup, Resources } from '../problem.ts';
import { untolerated } from '../requirements/taints.ts';
import type { Fleet, FleetNode } from './fleet.ts';
import { ForecastSpread, isSelected } from './forecast-spread.ts';
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
  const board = new Board(fleet, fleet.nodes.length + moves.reduce((sum, { newNodes }) => sum + newNodes.length, 0));
  const going = new Set(moves.flatMap(({ nodes }) => nodes));
  for (const node of fleet.nodes) {
    board.add(node, node.closed !== true && !going.has(node.name), slack);
    if (work.spend(5)) yield;
  }
  const unitPrice = board.unitPrice();
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

/** What is free on each node. */
class Board {
  readonly #groups: readonly PodGroup[];
  readonly #resources: readonly string[];
  readonly #width: number;
  /** By group, a row of amounts. */
  readonly #requests: Float64Array;
  readonly #nodes: FleetNode[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #open: Uint8Array;
  /** By node, a row of amounts each. */
  readonly #free: Float64Array;
  readonly #capacity: Float64Array;
  /** By group, whether a node takes its pods, filled as it is asked; and how many of its pods are on a node. */
  readonly #admits: (Uint8Array | undefined)[];
  readonly #counts: (Int32Array | undefined)[];
  readonly #fitting: Int32Array;
  readonly #spread: ForecastSpread;

  /** For so many nodes at most. */
  constructor({ groups }: Fleet, size: number) {
    this.#groups = groups;
    // The first two are what machines are sized by, and what the scheduler tells which node has most room by.
    this.#resources = [
      ...new Set(['cpu', 'memory', 'pods', ...groups.flatMap(({ requests }) => Object.keys(requests))]),
    ];
    this.#width = this.#resources.length;
    this.#requests = Float64Array.from(groups.flatMap(({ requests }) => this.#row({ pods: 1, ...requests })));
    this.#open = new Uint8Array(size);
    this.#free = new Float64Array(size * this.#width);
    this.#capacity = new Float64Array(size * this.#width);
    this.#fitting = new Int32Array(size);
    this.#admits = groups.map(() => undefined);
    this.#counts = groups.map(() => undefined);
    this.#spread = new ForecastSpread(groups);
  }

  get length(): number {
    return this.#nodes.length;
  }

  add(node: FleetNode, open: boolean, slack: number): void {
    const at = this.#nodes.length;
    this.#numbers.set(node.name, at);
    this.#nodes.push(node);
    this.#spread.add(node);
    this.#open[at] = open ? 1 : 0;
    const row = this.#row(node.allocatable);
    this.#capacity.set(row, at * this.#width);
    this.#free.set(
      row.map((amount, column) => (column < 2 ? amount * (1 - slack) : amount)),
      at * this.#width,
    );
  }

  numberOf(name: string): number {
    return this.#numbers.get(name) ?? -1;
  }

  setOpen(node: number, open: boolean): void {
    this.#open[node] = open ? 1 : 0;
  }

  /** How large pods of a group are, in one number. */
  size(group: number): number {
    const at = group * this.#width;
    return sizeOf(this.#requests[at] as number, this.#requests[at + 1] as number);
  }

  /** What a machine costs for its size, on average. */
  unitPrice(): number {
    let price = 0;
    let size = 0;
    for (const [node, { price: each }] of this.#nodes.entries()) {
      if (each === 0) continue;
      price += each;
      const at = node * this.#width;
      size += sizeOf(this.#capacity[at] as number, this.#capacity[at + 1] as number);
    }
    return size === 0 ? 0 : price / size;
  }

  /** Puts so many pods of a group on a node. */
  take(node: number, group: number, count: number): void {
    const counts = this.#countsOf(group);
    counts[node] = (counts[node] as number) + count;
    this.#spread.count(group, node, count);
    for (let column = 0; column < this.#width; column++) {
      const at = node * this.#width + column;
      this.#free[at] = (this.#free[at] as number) - count * (this.#requests[group * this.#width + column] as number);
    }
  }

  /** Counts a pod that is not placed by anybody any more, and has its room already. */
  stand(pod: BoundPod): void {
    this.#spread.stand(pod, this.numberOf(pod.node));
  }

  /** The node that the scheduler would choose for a pod of the group; -1 when it fits on none. */
  choose(group: number): number {
    const counts = this.#countsOf(group);
    const allowed = this.#spread.judge(group);
    let fitting = 0;
    let crowd = 0;
    for (let node = 0; node < this.#nodes.length; node++) {
      if (this.#open[node] === 0 || !this.#fits(group, node) || !this.#isAdmitted(group, node)) continue;
      if (allowed !== undefined && !allowed(node)) continue;
      this.#fitting[fitting++] = node;
      if ((counts[node] as number) > crowd) crowd = counts[node] as number;
    }
    let best = -1;
    let most = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < fitting; index++) {
      const node = this.#fitting[index] as number;
      const company = crowd === 0 ? 0 : (counts[node] as number) / crowd;
      const score = this.#room(group, node) + SPREAD_WEIGHT * (1 - company);
      if (score <= most) continue;
      most = score;
      best = node;
    }
    return best;
  }

  /** LeastAllocated and BalancedAllocation together, from 0 to 2. */
  #room(group: number, node: number): number {
    const cpu = this.#used(group, node, 0);
    const memory = this.#used(group, node, 1);
    return (2 - cpu - memory) / 2 + 1 - Math.abs(cpu - memory) / 2;
  }

  /** The share of a resource that is used with one more pod of the group. */
  #used(group: number, node: number, column: number): number {
    const at = node * this.#width + column;
    const capacity = this.#capacity[at] as number;
    if (capacity <= 0) return 1;
    const left = (this.#free[at] as number) - (this.#requests[group * this.#width + column] as number);
    return Math.min(1, (capacity - left) / capacity);
  }

  #fits(group: number, node: number): boolean {
    const row = group * this.#width;
    const at = node * this.#width;
    for (let column = 0; column < this.#width; column++) {
      const wanted = this.#requests[row + column] as number;
      if (wanted > 0 && wanted > (this.#free[at + column] as number)) return false;
    }
    return true;
  }

  #isAdmitted(group: number, node: number): boolean {
    let row = this.#admits[group];
    if (row === undefined) {
      row = new Uint8Array(this.#open.length);
      this.#admits[group] = row;
    }
    if (row[node] === 0) {
      row[node] = admits(this.#groups[group] as PodGroup, this.#nodes[node] as FleetNode) ? ADMITTED : REFUSED;
    }
    return row[node] === ADMITTED;
  }

  #countsOf(group: number): Int32Array {
    const known = this.#counts[group];
    if (known !== undefined) return known;
    const counts = new Int32Array(this.#open.length);
    this.#counts[group] = counts;
    return counts;
  }

  #row(amounts: Resources): number[] {
    return this.#resources.map((resource) => amounts[resource] ?? 0);
  }
}

const ADMITTED = 1;
const REFUSED = 2;

/** Against room: how much the scheduler wants pods of one kind apart. */
const SPREAD_WEIGHT = 2;

/** What is launched for pods that fit nowhere is mostly larger than they are. */
const MISFIT_PRICE = 1.5;

/** A millicore weighs as much as so many bytes of memory: what machines mostly have. */
const BYTES_PER_MILLICORE = (4 * 1024 ** 3) / 1000;

function sizeOf(cpu: number, memory: number): number {
  return cpu * BYTES_PER_MILLICORE + memory;
}

function admits({ requirements = [], volumeRequirements = [], tolerations }: PodGroup, node: FleetNode): boolean {
  if (untolerated(node.taints, tolerations) !== undefined) return false;
  return isSelected(requirements, node.labels) && isSelected(volumeRequirements, node.labels);
}
