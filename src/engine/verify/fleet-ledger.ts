/** Where every pod of a fleet is, what is left on each node, and what topology rules see, while moves are carried out. */
import type { Fleet, FleetNode, FleetPod } from '../consolidation/fleet.ts';
import type { BoundPod, PodGroup, Problem, Resources } from '../problem.ts';
import { totalRequests } from './node-rules.ts';
import { existingNode, type PlannedNode } from './planned-node.ts';
import { TopologyReplay } from './topology-replay.ts';

/** The fleet at one moment. */
export class FleetLedger {
  /** The fleet as the question that one move answers. */
  readonly problem: Problem;
  readonly topology: TopologyReplay;
  readonly #fleet: Fleet;
  readonly #asFound: ReadonlyMap<string, FleetNode>;
  readonly #nodes = new Map<string, PlannedNode>();
  readonly #podsOn = new Map<string, Set<FleetPod>>();
  /** Of the fleet as it was found, by node. */
  readonly #boundOn: ReadonlyMap<string, readonly BoundPod[]>;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#asFound = new Map(fleet.nodes.map((node) => [node.name, node]));
    this.problem = {
      pods: fleet.groups,
      pools: fleet.pools,
      instanceTypes: fleet.instanceTypes,
      nodes: fleet.nodes.map(asExisting),
      ...(fleet.boundPods === undefined ? {} : { boundPods: fleet.boundPods }),
      ...(fleet.daemons === undefined ? {} : { daemons: fleet.daemons }),
      ...(fleet.namespaces === undefined ? {} : { namespaces: fleet.namespaces }),
    };
    this.topology = new TopologyReplay(this.problem);
    for (const node of fleet.nodes) this.add(existingNode(asExisting(node), fleet));
    for (const pod of fleet.pods) this.put(pod, this.node(pod.node));
    this.#boundOn = Map.groupBy(fleet.boundPods ?? [], ({ node }) => node);
    for (const { name } of fleet.nodes) this.#countBound(name, 1);
  }

  /** The node of that name as the fleet had it; undefined for one that was bought since. */
  asFound(name: string): FleetNode | undefined {
    return this.#asFound.get(name);
  }

  group(pod: FleetPod): PodGroup {
    return this.#fleet.groups[pod.group] as PodGroup;
  }

  /** The node of that name as it was bought, whatever is on it. */
  node(name: string): PlannedNode {
    return this.#nodes.get(name) as PlannedNode;
  }

  has(name: string): boolean {
    return this.#nodes.has(name);
  }

  podsOn(name: string): readonly FleetPod[] {
    return [...(this.#podsOn.get(name) ?? [])];
  }

  /** The node as a pod that comes finds it: less what its pods take. */
  withRoomLeft(name: string): PlannedNode {
    const node = this.node(name);
    const pods = this.podsOn(name).map((pod) => this.group(pod));
    const taken = { ...totalRequests(pods), pods: pods.length };
    const attachmentRoom = Object.fromEntries(
      Object.entries(node.attachmentRoom).map(([driver, limit]) => [
        driver,
        limit - pods.reduce((sum, pod) => sum + (pod.volumeAttachments?.[driver] ?? 0), 0),
      ]),
    );
    return {
      ...node,
      room: less(node.room, taken),
      attachmentRoom,
      usedHostPorts: [...node.usedHostPorts, ...pods.flatMap((pod) => pod.hostPorts ?? [])],
    };
  }

  add(node: PlannedNode): void {
    this.#nodes.set(node.name, node);
    this.#podsOn.set(node.name, new Set());
  }

  /** Takes a node away, with its pods, which are given back; those that stay on it to its end still count. */
  remove(name: string): readonly FleetPod[] {
    const pods = this.podsOn(name);
    const node = this.node(name);
    for (const pod of pods) this.topology.bind(this.group(pod), node, -1);
    this.#nodes.delete(name);
    this.#podsOn.delete(name);
    return pods;
  }

  /** Those that stayed on a node are gone with it. */
  end(name: string): void {
    this.#countBound(name, -1);
  }

  /** Puts a pod on a node without judging; the topology counts it when it was not placed there by a judged step. */
  put(pod: FleetPod, node: PlannedNode): void {
    this.topology.bind(this.group(pod), node);
    this.record(pod, node);
  }

  /** Writes down that a pod is on a node now. */
  record(pod: FleetPod, node: PlannedNode): void {
    this.#podsOn.get(node.name)?.add(pod);
  }

  #countBound(name: string, sign: 1 | -1): void {
    const bound = this.#boundOn.get(name) ?? [];
    const node = existingNode(asExisting(this.#asFound.get(name) as FleetNode), this.#fleet);
    for (const pod of bound) this.topology.bind(pod, node, sign * (pod.count ?? 1));
  }
}

function asExisting(node: FleetNode) {
  return {
    name: node.name,
    labels: node.labels,
    free: node.allocatable,
    ...(node.pool === undefined ? {} : { pool: node.pool }),
    ...(node.taints === undefined ? {} : { taints: node.taints }),
    ...(node.volumeAttachLimits === undefined ? {} : { freeVolumeAttachments: node.volumeAttachLimits }),
    ...(node.usedHostPorts === undefined ? {} : { usedHostPorts: node.usedHostPorts }),
    ...(node.daemonsToCome === undefined ? {} : { daemonsToCome: node.daemonsToCome }),
  };
}

function less(room: Resources, taken: Resources): Resources {
  return Object.fromEntries(
    [...new Set([...Object.keys(room), ...Object.keys(taken)])].map((name) => [
      name,
      (room[name] ?? 0) - (taken[name] ?? 0),
    ]),
  );
}
