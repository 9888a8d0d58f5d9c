/**
 * A plan under construction: nodes with their free resources, and the topology counters. Every placement is made here and
 * checked against all rules at that moment, so the log of placements is a legal order.
 */
import { hasBit } from '../compile/bitset.ts';
import { capacityOf, type Model, type PodClass } from '../compile/model.ts';
import { Purse } from '../packing/purse.ts';
import type { HostPort } from '../problem.ts';
import { anyPortConflicts } from '../requirements/host-ports.ts';
import { HOST, type TopologyRule } from './rules.ts';

const NO_PORTS: readonly HostPort[] = [];

/** Nodes and counters of a plan under construction. Existing nodes are numbered first, new ones after them. */
export class PlacementState {
  readonly model: Model;
  readonly existingCount: number;
  nodeCount: number;
  /** Rows of resource columns. */
  free: Float64Array;
  /** The capacity of each new node when empty. */
  readonly capacity: Float64Array[] = [];
  /** Option of each new node; -1 for existing ones. */
  nodeOption: Int32Array;
  /** The only filter whose pods the node may hold; -1 for any. */
  nodeFilter: Int32Array;
  /** Classes on each node with their pod counts: class, count, class, count, ... */
  readonly contents: number[][] = [];
  /** By topology key: domain of each node. */
  readonly domain: Int32Array[];
  /** Remaining slots and limits. */
  readonly purse: Purse;
  /** Placements in the order in which they were made: class, node, count. */
  readonly log: number[] = [];
  /** Pods of each class not placed yet. */
  readonly remaining: Int32Array;
  placed = 0;

  readonly #counts: (Int32Array | undefined)[];
  readonly #hostCounts: (Map<number, number> | undefined)[];
  readonly #totals: Int32Array;
  readonly #ports = new Map<number, HostPort[]>();

  constructor(model: Model) {
    this.model = model;
    const { nodes, dimensions, groups } = model;
    this.existingCount = nodes.length;
    this.nodeCount = nodes.length;
    const capacity = Math.max(64, nodes.length * 2);
    this.free = new Float64Array(capacity * dimensions.size);
    this.nodeOption = new Int32Array(capacity).fill(-1);
    this.nodeFilter = new Int32Array(capacity).fill(-1);
    this.domain = model.nodeDomain.map((column) => {
      const grown = new Int32Array(capacity).fill(-1);
      grown.set(column);
      return grown;
    });
    this.purse = new Purse(model);
    this.remaining = Int32Array.from(model.classes, (podClass) => podClass.pods.length);
    this.#counts = groups.map((group) =>
      group.key === HOST ? undefined : new Int32Array(model.domainCount[group.key] as number),
    );
    this.#hostCounts = groups.map((group) => (group.key === HOST ? new Map() : undefined));
    this.#totals = new Int32Array(groups.length);
    nodes.forEach((node, index) => {
      dimensions.writeCapacity(this.free, index * dimensions.size, node.free, node.freeVolumeAttachments);
      this.contents.push([]);
      if (node.usedHostPorts !== undefined) this.#ports.set(index, [...node.usedHostPorts]);
    });
    const byName = new Map(nodes.map((node, index) => [node.name, index]));
    (model.problem.boundPods ?? []).forEach((pod, index) => {
      const node = byName.get(pod.node);
      if (node !== undefined) this.#count(model.boundCounts[index] as Int32Array, node, pod.count ?? 1);
    });
  }

  /** Whether a pod with this filter may be on a node. */
  accepts(filter: number, node: number): boolean {
    const only = this.nodeFilter[node] as number;
    return (only < 0 || only === filter) && this.admits(filter, node);
  }

  /** Whether a filter admits a node. */
  admits(filter: number, node: number): boolean {
    const admitted = this.model.admitted[filter];
    if (admitted === undefined) return false;
    const option = this.nodeOption[node] as number;
    return option < 0 ? hasBit(admitted.nodes, node) : hasBit(admitted.options, option);
  }

  /** How many pods of a class fit into the node's free resources, at most `most`. */
  room(podClass: PodClass, node: number, most: number): number {
    const { requests } = podClass;
    const row = node * requests.length;
    let count = most;
    for (let column = 0; column < requests.length; column++) {
      const each = requests[column] as number;
      if (each === 0) continue;
      const fits = Math.floor((this.free[row + column] as number) / each);
      if (fits < count) count = fits;
    }
    return count < 0 ? 0 : count;
  }

  /** Whether one more pod of the class on the node breaks no topology rule and has no port conflict. */
  allows(podClass: PodClass, node: number): boolean {
    for (const rule of podClass.topology.rules) if (!this.#ruleHolds(rule, node)) return false;
    return podClass.ports.length === 0 || !anyPortConflicts(podClass.ports, this.#ports.get(node) ?? NO_PORTS);
  }

  /** The total weight of a class's preferences that a node does not satisfy. */
  regret(podClass: PodClass, node: number): number {
    let sum = 0;
    for (const { rule, weight } of podClass.topology.wishes) if (!this.#ruleHolds(rule, node)) sum += weight;
    return sum;
  }

  /** The first topology rule that a node breaks. */
  brokenRule(podClass: PodClass, node: number): TopologyRule | undefined {
    return podClass.topology.rules.find((rule) => !this.#ruleHolds(rule, node));
  }

  /** Places pods that `room` and `allows` admit. */
  place(podClass: PodClass, node: number, count: number): void {
    const { requests, topology, ports, index } = podClass;
    const row = node * requests.length;
    for (let column = 0; column < requests.length; column++) {
      this.free[row + column] = (this.free[row + column] as number) - count * (requests[column] as number);
    }
    if (topology.counted.length > 0) this.#count(topology.counted, node, count);
    if (ports.length > 0) this.#ports.set(node, [...(this.#ports.get(node) ?? NO_PORTS), ...ports]);
    const contents = this.contents[node] as number[];
    if (contents.length > 0 && contents[contents.length - 2] === index) {
      contents[contents.length - 1] = (contents[contents.length - 1] as number) + count;
    } else contents.push(index, count);
    this.log.push(index, node, count);
    this.remaining[index] = (this.remaining[index] as number) - count;
    this.placed += count;
  }

  /** Undoes the last placement. */
  undo(): void {
    const [index, node, count] = this.log.splice(-3) as [number, number, number];
    const { requests, topology, ports } = this.model.classes[index] as PodClass;
    const row = node * requests.length;
    for (let column = 0; column < requests.length; column++) {
      this.free[row + column] = (this.free[row + column] as number) + count * (requests[column] as number);
    }
    if (topology.counted.length > 0) this.#count(topology.counted, node, -count);
    if (ports.length > 0) this.#ports.set(node, (this.#ports.get(node) ?? []).slice(0, -ports.length));
    const contents = this.contents[node] as number[];
    const left = (contents.pop() as number) - count;
    if (left > 0) contents.push(left);
    else contents.pop();
    this.remaining[index] = (this.remaining[index] as number) + count;
    this.placed -= count;
  }

  /** Opens a new, empty node of an option that the purse affords, for pods with this filter. */
  open(option: number, filter: number): number {
    const { dimensions, optionDomain, minValues } = this.model;
    const node = this.nodeCount++;
    if (node >= this.nodeOption.length) this.#grow();
    this.nodeOption[node] = option;
    if (minValues.concern(option)) this.nodeFilter[node] = filter;
    const capacity = capacityOf(this.model, option, filter);
    this.capacity[node] = capacity;
    this.free.set(capacity, node * dimensions.size);
    for (let key = 0; key < this.domain.length; key++) {
      (this.domain[key] as Int32Array)[node] = (optionDomain[key] as Int32Array)[option] as number;
    }
    this.contents.push([]);
    this.purse.take(option, 1);
    return node;
  }

  /** Gives back a new node without pods. */
  close(node: number): void {
    const { size } = this.model.dimensions;
    this.purse.take(this.nodeOption[node] as number, -1);
    this.free.fill(-1, node * size, (node + 1) * size);
  }

  /** Changes the offering of a new node to another in the same domains that holds its pods. */
  exchange(node: number, option: number, filter: number): void {
    const { dimensions } = this.model;
    this.purse.take(this.nodeOption[node] as number, -1);
    this.purse.take(option, 1);
    const before = this.capacity[node] as Float64Array;
    const after = capacityOf(this.model, option, filter);
    for (let column = 0; column < dimensions.size; column++) {
      const at = node * dimensions.size + column;
      this.free[at] = (this.free[at] as number) + (after[column] as number) - (before[column] as number);
    }
    this.capacity[node] = after;
    this.nodeOption[node] = option;
  }

  /** The amount of a resource column used by the pods on a new node. */
  used(node: number, column: number): number {
    const { size } = this.model.dimensions;
    return ((this.capacity[node] as Float64Array)[column] as number) - (this.free[node * size + column] as number);
  }

  /** Pods of a group in a domain (a node for host groups). */
  countIn(group: number, domain: number): number {
    const hosts = this.#hostCounts[group];
    if (hosts !== undefined) return hosts.get(domain) ?? 0;
    return (this.#counts[group] as Int32Array)[domain] ?? 0;
  }

  /** Copies of the counters by domain, and their totals, for planning ahead. */
  copyCounts(): { counts: (Int32Array | undefined)[]; totals: Int32Array } {
    return { counts: this.#counts.map((column) => column?.slice()), totals: this.#totals.slice() };
  }

  #ruleHolds(rule: TopologyRule, node: number): boolean {
    return this.holdsIn(rule, rule.key === HOST ? node : ((this.domain[rule.key] as Int32Array)[node] as number));
  }

  /** Whether a rule allows one more pod in a domain: for host rules a node (-1: a fresh one), otherwise a domain (-1: none). */
  holdsIn(rule: TopologyRule, domain: number): boolean {
    if (rule.key === HOST) {
      const count = (this.#hostCounts[rule.group] as Map<number, number>).get(domain) ?? 0;
      // A new node can always be launched, so the least loaded host is an empty one.
      if (rule.kind === 'spread') return count + (rule.self ? 1 : 0) <= rule.maxSkew;
      if (rule.kind === 'affinity') return count > 0 || mayBeFirst(rule, this.#totals);
      return count === 0;
    }
    if (domain < 0) return rule.kind === 'anti' || rule.kind === 'inverse';
    return ruleHoldsIn(rule, domain, this.#counts[rule.group] as Int32Array, this.#totals);
  }

  #count(groups: Int32Array, node: number, by: number): void {
    for (let position = 0; position < groups.length; position++) {
      const id = groups[position] as number;
      const group = this.model.groups[id];
      if (group === undefined || (group.filter >= 0 && !this.admits(group.filter, node))) continue;
      if (group.key === HOST) {
        const hosts = this.#hostCounts[id] as Map<number, number>;
        hosts.set(node, (hosts.get(node) ?? 0) + by);
      } else {
        const domain = (this.domain[group.key] as Int32Array)[node] as number;
        if (domain < 0) continue;
        const column = this.#counts[id] as Int32Array;
        column[domain] = (column[domain] as number) + by;
      }
      this.#totals[id] = (this.#totals[id] as number) + by;
    }
  }

  #grow(): void {
    const capacity = this.nodeOption.length * 2;
    const free = new Float64Array(capacity * this.model.dimensions.size);
    free.set(this.free);
    this.free = free;
    const options = new Int32Array(capacity).fill(-1);
    options.set(this.nodeOption);
    this.nodeOption = options;
    const filters = new Int32Array(capacity).fill(-1);
    filters.set(this.nodeFilter);
    this.nodeFilter = filters;
    for (let key = 0; key < this.domain.length; key++) {
      const column = new Int32Array(capacity).fill(-1);
      column.set(this.domain[key] as Int32Array);
      this.domain[key] = column;
    }
  }
}

/** Whether a rule on a key other than the hostname holds in a domain, given the counts of its group. */
export function ruleHoldsIn(rule: TopologyRule, domain: number, counts: Int32Array, totals: Int32Array): boolean {
  const count = counts[domain] as number;
  switch (rule.kind) {
    case 'spread': {
      let least = rule.domains.length < rule.minDomains ? 0 : Number.MAX_SAFE_INTEGER;
      for (let position = 0; position < rule.domains.length && least > 0; position++) {
        const other = counts[rule.domains[position] as number] as number;
        if (other < least) least = other;
      }
      if (rule.domains.length === 0) least = 0;
      return count + (rule.self ? 1 : 0) - least <= rule.maxSkew;
    }
    case 'affinity':
      return count > 0 || mayBeFirst(rule, totals);
    default:
      return count === 0;
  }
}

/** Whether a pod with affinity to its own kind may be the first: no pod of its kind exists yet. */
function mayBeFirst(rule: TopologyRule, totals: Int32Array): boolean {
  return rule.self && rule.companions.every((group) => totals[group] === 0);
}
