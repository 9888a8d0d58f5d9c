/**
 * The fleet during planning: which nodes are removed or new, and where each pod is. Steps are tried and rolled back. A
 * removed node never returns, so pods that stay on their node never block pods that are moved.
 */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import type { Model, PodClass } from '../compile/model.ts';
import type { Slices, Work } from '../packing/work.ts';
import type { HostPort } from '../problem.ts';
import { anyPortConflicts } from '../requirements/host-ports.ts';
import type { CompiledFleet } from './compiled-fleet.ts';
import type { FleetNode } from './fleet.ts';
import { Supply } from './supply.ts';
import { TopologyLedger } from './topology-ledger.ts';

const NOWHERE = -1;

/** Nodes and pods under planning. Nodes of the fleet are numbered first, new ones after them. */
export class FleetState {
  readonly compiled: CompiledFleet;
  readonly model: Model;
  readonly existingCount: number;
  nodeCount: number;
  /** Rows of resource columns: the total for pods, and the free part of it. */
  capacity: Float64Array;
  free: Float64Array;
  /** Option of each new node; -1 for nodes of the fleet. */
  nodeOption: Int32Array;
  nodePrice: Float64Array;
  /** 1 for removed nodes. */
  gone: Uint8Array;
  /** Node of each pod. */
  readonly podNode: Int32Array;
  readonly supply: Supply;
  readonly topology: TopologyLedger;

  readonly #podsOn: number[][] = [];
  readonly #position: Int32Array;
  readonly #ports = new Map<number, HostPort[]>();
  #domain: Int32Array[];
  /** Pairs of pod and the node it was on before. */
  readonly #journal: number[] = [];

  constructor(compiled: CompiledFleet) {
    this.compiled = compiled;
    const { model, fleet } = compiled;
    this.model = model;
    this.existingCount = fleet.nodes.length;
    this.nodeCount = fleet.nodes.length;
    const capacity = fleet.nodes.length + 256;
    const { size } = model.dimensions;
    this.capacity = new Float64Array(capacity * size);
    this.free = new Float64Array(capacity * size);
    this.nodeOption = new Int32Array(capacity).fill(-1);
    this.nodePrice = new Float64Array(capacity);
    this.gone = new Uint8Array(capacity);
    this.#domain = model.nodeDomain.map((column) => {
      const grown = new Int32Array(capacity).fill(-1);
      grown.set(column);
      return grown;
    });
    fleet.nodes.forEach((node, index) => {
      model.dimensions.writeCapacity(this.capacity, index * size, node.allocatable, node.volumeAttachLimits);
      this.nodePrice[index] = node.price;
      this.#podsOn.push([]);
      if (node.usedHostPorts !== undefined) this.#ports.set(index, [...node.usedHostPorts]);
    });
    this.free.set(this.capacity);
    this.supply = new Supply(model);
    this.topology = new TopologyLedger(model, {
      domain: (key, node) => (this.#domain[key] as Int32Array)[node] as number,
      admits: (filter, node) => this.admits(filter, node),
    });
    this.podNode = new Int32Array(fleet.pods.length).fill(NOWHERE);
    this.#position = new Int32Array(fleet.pods.length);
  }

  /** Puts every pod on the node it runs on; until then all nodes are empty. */
  *settle(work: Work): Slices<void> {
    const { podHome, boundOn } = this.compiled;
    for (const node of boundOn.keys()) {
      this.#countBound(node, 1);
      if (work.spend(2)) yield;
    }
    for (let pod = 0; pod < podHome.length; pod++) {
      this.#put(pod, podHome[pod] as number);
      if (work.spend(2)) yield;
    }
    this.begin();
  }

  /** The class of a pod. */
  classOf(pod: number): PodClass {
    return this.model.classes[this.compiled.podClass[pod] as number] as PodClass;
  }

  /** Pods on a node, in no particular order. */
  podsOn(node: number): readonly number[] {
    return this.#podsOn[node] as number[];
  }

  /** Whether a filter admits a node. */
  admits(filter: number, node: number): boolean {
    const admitted = this.model.admitted[filter] as Admitted;
    const option = this.nodeOption[node] as number;
    return option < 0 ? hasBit(admitted.nodes, node) : hasBit(admitted.options, option);
  }

  /** Whether the node's free resources suffice for a pod of the class. */
  fits(podClass: PodClass, node: number): boolean {
    const { requests } = podClass;
    const row = node * requests.length;
    for (let column = 0; column < requests.length; column++) {
      if ((requests[column] as number) > (this.free[row + column] as number) && requests[column] !== 0) return false;
    }
    return true;
  }

  /** Whether a pod may be put on a node that has room for it. */
  allows(pod: number, node: number): boolean {
    const podClass = this.classOf(pod);
    if (!this.admits(this.compiled.podFilter[pod] as number, node)) return false;
    if (!this.topology.allows(podClass, node)) return false;
    return podClass.ports.length === 0 || !anyPortConflicts(podClass.ports, this.#ports.get(node) ?? []);
  }

  /** Whether a node is in the same domains as the pod's current node, for the keys of the pod's topology rules. */
  isNear(pod: number, node: number): boolean {
    const home = this.compiled.podHome[pod] as number;
    const { rules } = this.classOf(pod).topology;
    return rules.every(({ key }) => {
      const column = this.#domain[key];
      return column === undefined || column[home] === column[node];
    });
  }

  /** Starts a step that can be rolled back. */
  begin(): void {
    this.#journal.length = 0;
    this.topology.begin();
  }

  /** Moves a pod to a node, or takes it off its node. */
  move(pod: number, node: number): void {
    this.#journal.push(pod, this.podNode[pod] as number);
    this.#take(pod);
    if (node !== NOWHERE) this.#put(pod, node);
  }

  /** Takes a pod off its node for now. */
  lift(pod: number): void {
    this.move(pod, NOWHERE);
  }

  /** Adds a new, empty node. */
  open(option: number): number {
    const { catalogue, dimensions, optionDomain } = this.model;
    const node = this.nodeCount++;
    if (node >= this.nodeOption.length) this.#grow();
    const row = (catalogue.optionTemplate[option] as number) * dimensions.size;
    for (let column = 0; column < dimensions.size; column++) {
      const amount = catalogue.alloc[row + column] as number;
      this.capacity[node * dimensions.size + column] = amount;
      this.free[node * dimensions.size + column] = amount;
    }
    this.nodeOption[node] = option;
    this.nodePrice[node] = catalogue.optionPrice[option] as number;
    this.gone[node] = 0;
    for (let key = 0; key < this.#domain.length; key++) {
      (this.#domain[key] as Int32Array)[node] = (optionDomain[key] as Int32Array)[option] as number;
    }
    this.#podsOn[node] = [];
    this.#ports.delete(node);
    this.supply.take(option, 1);
    return node;
  }

  /** Removes the last new node, which must be empty. */
  close(): void {
    const node = --this.nodeCount;
    this.supply.take(this.nodeOption[node] as number, -1);
  }

  /** Changes the option of a new node to another that holds its pods; in the same domains if a rule counts any of them by domain. */
  exchange(node: number, option: number): void {
    const { catalogue, dimensions, optionDomain } = this.model;
    const to = (catalogue.optionTemplate[option] as number) * dimensions.size;
    this.supply.take(this.nodeOption[node] as number, -1);
    this.supply.take(option, 1);
    for (let column = 0; column < dimensions.size; column++) {
      const at = node * dimensions.size + column;
      const amount = catalogue.alloc[to + column] as number;
      this.free[at] = (this.free[at] as number) + amount - (this.capacity[at] as number);
      this.capacity[at] = amount;
    }
    for (let key = 0; key < this.#domain.length; key++) {
      (this.#domain[key] as Int32Array)[node] = (optionDomain[key] as Int32Array)[option] as number;
    }
    this.nodeOption[node] = option;
    this.nodePrice[node] = catalogue.optionPrice[option] as number;
  }

  /** Whether the step harms no remaining pod's topology rules once these nodes, and the pods bound to them, are gone. */
  unharmedWithout(leaving: readonly number[]): boolean {
    for (const node of leaving) this.#countBound(node, -1);
    const unharmed = this.topology.unharmed();
    for (const node of leaving) this.#countBound(node, 1);
    return unharmed;
  }

  /** Undoes the step: puts every pod back, and removes the new nodes. */
  rollback(nodeCount: number): void {
    for (let at = this.#journal.length - 2; at >= 0; at -= 2) {
      const pod = this.#journal[at] as number;
      const node = this.#journal[at + 1] as number;
      this.#take(pod);
      if (node !== NOWHERE) this.#put(pod, node);
    }
    while (this.nodeCount > nodeCount) this.close();
    this.begin();
  }

  /** Makes the step final: the given nodes, empty by now, are removed. */
  commit(leaving: readonly number[]): void {
    for (const node of leaving) {
      this.gone[node] = 1;
      this.#countBound(node, -1);
      const option = this.nodeOption[node] as number;
      if (option >= 0) this.supply.take(option, -1);
      else this.supply.release(this.compiled.fleet.nodes[node] as FleetNode);
    }
    this.begin();
  }

  #countBound(node: number, by: number): void {
    for (const { counted, count } of this.compiled.boundOn.get(node) ?? [])
      this.topology.countIn(counted, node, by * count);
  }

  #take(pod: number): void {
    const node = this.podNode[pod] as number;
    if (node === NOWHERE) return;
    const list = this.#podsOn[node] as number[];
    const last = list.pop() as number;
    if (last !== pod) {
      list[this.#position[pod] as number] = last;
      this.#position[last] = this.#position[pod] as number;
    }
    this.podNode[pod] = NOWHERE;
    this.#change(pod, node, -1);
  }

  #put(pod: number, node: number): void {
    const list = this.#podsOn[node] as number[];
    this.#position[pod] = list.length;
    list.push(pod);
    this.podNode[pod] = node;
    this.#change(pod, node, 1);
  }

  #change(pod: number, node: number, by: number): void {
    const podClass = this.classOf(pod);
    const { requests, topology, ports } = podClass;
    const row = node * requests.length;
    for (let column = 0; column < requests.length; column++) {
      this.free[row + column] = (this.free[row + column] as number) - by * (requests[column] as number);
    }
    if (topology.counted.length > 0 || topology.rules.length > 0) this.topology.count(podClass, node, by);
    if (ports.length > 0) this.#changePorts(ports, node, by);
  }

  #changePorts(ports: readonly HostPort[], node: number, by: number): void {
    const held = [...(this.#ports.get(node) ?? [])];
    if (by > 0) held.push(...ports);
    else for (const port of ports) held.splice(held.lastIndexOf(port), 1);
    this.#ports.set(node, held);
  }

  #grow(): void {
    const capacity = this.nodeOption.length * 2;
    const wider = <Column extends Float64Array | Int32Array | Uint8Array>(to: Column, from: Column): Column => {
      to.set(from);
      return to;
    };
    this.capacity = wider(new Float64Array(capacity * this.model.dimensions.size), this.capacity);
    this.free = wider(new Float64Array(capacity * this.model.dimensions.size), this.free);
    this.nodeOption = wider(new Int32Array(capacity).fill(-1), this.nodeOption);
    this.nodePrice = wider(new Float64Array(capacity), this.nodePrice);
    this.gone = wider(new Uint8Array(capacity), this.gone);
    this.#domain = this.#domain.map((column) => wider(new Int32Array(capacity).fill(-1), column));
  }
}
