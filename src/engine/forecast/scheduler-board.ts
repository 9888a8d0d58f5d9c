/**
 * Tracks the free resources of each node, and predicts where kube-scheduler would place a pod by default: LeastAllocated,
 * BalancedAllocation, identical pods apart, within required spreads. Affinity to other pods is ignored.
 */
import type { BoundPod, Labels, PodGroup, Resources, Taint } from '../problem.ts';
import { untolerated } from '../requirements/taints.ts';
import { ForecastSpread, isSelected } from './forecast-spread.ts';

/** A node as the scheduler sees it. */
export interface BoardNode {
  readonly name: string;
  readonly labels: Labels;
  readonly taints?: readonly Taint[];
  /** Total for pods. */
  readonly allocatable: Resources;
  /** The free part of it; all of it if absent. */
  readonly free?: Resources;
}

export class SchedulerBoard {
  readonly #groups: readonly PodGroup[];
  readonly #resources: readonly string[];
  readonly #width: number;
  /** By group, a row of amounts. */
  readonly #requests: Float64Array;
  readonly #nodes: BoardNode[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #open: Uint8Array;
  /** By node, a row of amounts each. */
  readonly #free: Float64Array;
  readonly #capacity: Float64Array;
  /** By group: whether a node admits its pods, filled on demand; and how many of its pods are on a node. */
  readonly #admits: (Uint8Array | undefined)[];
  readonly #counts: (Int32Array | undefined)[];
  readonly #fitting: Int32Array;
  readonly #spread: ForecastSpread;

  /** `size` is the maximum number of nodes. */
  constructor(groups: readonly PodGroup[], size: number) {
    this.#groups = groups;
    // The first two, cpu and memory, determine the size of machines, and the scheduler compares nodes by them.
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

  /** Adds a node; the share `slack` of it must stay free. */
  add(node: BoardNode, open: boolean, slack = 0): void {
    const at = this.#nodes.length;
    this.#numbers.set(node.name, at);
    this.#nodes.push(node);
    this.#spread.add(node);
    this.#open[at] = open ? 1 : 0;
    const row = this.#row(node.allocatable);
    const free = node.free === undefined ? row : this.#row(node.free);
    this.#capacity.set(row, at * this.#width);
    this.#free.set(
      free.map((amount, column) => (column < 2 ? amount - (row[column] as number) * slack : amount)),
      at * this.#width,
    );
  }

  numberOf(name: string): number {
    return this.#numbers.get(name) ?? -1;
  }

  nameOf(node: number): string {
    return (this.#nodes[node] as BoardNode).name;
  }

  setOpen(node: number, open: boolean): void {
    this.#open[node] = open ? 1 : 0;
  }

  /** The size of a group's pods as one number. */
  size(group: number): number {
    const at = group * this.#width;
    return sizeOf(this.#requests[at] as number, this.#requests[at + 1] as number);
  }

  /** The size of a node, in the same unit. */
  sizeOfNode(node: number): number {
    const at = node * this.#width;
    return sizeOf(this.#capacity[at] as number, this.#capacity[at + 1] as number);
  }

  /** Places this many pods of a group on a node. */
  take(node: number, group: number, count: number): void {
    const counts = this.#countsOf(group);
    counts[node] = (counts[node] as number) + count;
    this.#spread.count(group, node, count);
    for (let column = 0; column < this.#width; column++) {
      const at = node * this.#width + column;
      this.#free[at] = (this.#free[at] as number) - count * (this.#requests[group * this.#width + column] as number);
    }
  }

  /** Counts a pod that stays on its node; its requests are already subtracted. */
  stand(pod: BoundPod): void {
    this.#spread.stand(pod, this.numberOf(pod.node));
  }

  /** The node kube-scheduler would choose for a pod of the group; -1 if it fits on none. */
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

  /** The share of a resource that is used after adding a pod of the group. */
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
      row[node] = admits(this.#groups[group] as PodGroup, this.#nodes[node] as BoardNode) ? ADMITTED : REFUSED;
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

/** Weight of keeping identical pods apart, compared with free room. */
const SPREAD_WEIGHT = 2;

/** One millicore counts as much as this many bytes of memory: the usual ratio of machines. */
const BYTES_PER_MILLICORE = (4 * 1024 ** 3) / 1000;

function sizeOf(cpu: number, memory: number): number {
  return cpu * BYTES_PER_MILLICORE + memory;
}

function admits({ requirements = [], volumeRequirements = [], tolerations }: PodGroup, node: BoardNode): boolean {
  if (untolerated(node.taints, tolerations) !== undefined) return false;
  return isSelected(requirements, node.labels) && isSelected(volumeRequirements, node.labels);
}
