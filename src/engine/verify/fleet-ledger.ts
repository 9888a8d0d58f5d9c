/** Tracks pods, free room and topology counts of a fleet while moves are carried out. */
import type { Fleet, FleetNode, FleetPod } from '../consolidation/fleet.ts';
import type { BoundPod, PodGroup, Problem, Resources } from '../problem.ts';
import { totalRequests } from './node-rules.ts';
import { existingNode, type PlannedNode } from './planned-node.ts';
import { TopologyReplay } from './topology-replay.ts';

/** The fleet at one point of the plan. */
export class FleetLedger {
  /** The fleet in the form of a problem, as the node rules expect it. */
  readonly problem: Problem;
  readonly topology: TopologyReplay;
  readonly #fleet: Fleet;
  readonly #asFound: ReadonlyMap<string, FleetNode>;
  readonly #nodes = new Map<string, PlannedNode>();
  readonly #podsOn = new Map<string, Set<FleetPod>>();
  /** Bound pods of the original fleet, by node. */
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

  /** The node as in the original fleet; undefined for a node launched by the plan. */
  asFound(name: string): FleetNode | undefined {
    return this.#asFound.get(name);
  }

  group(pod: FleetPod): PodGroup {
    return this.#fleet.groups[pod.group] as PodGroup;
  }

  /** The node itself, without its pods. */
  node(name: string): PlannedNode {
    return this.#nodes.get(name) as PlannedNode;
  }

  has(name: string): boolean {
    return this.#nodes.has(name);
  }

  podsOn(name: string): readonly FleetPod[] {
    return [...(this.#podsOn.get(name) ?? [])];
  }

  /** The node as a new pod finds it: less the requests of its pods. */
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

  /** Removes a node and returns its pods. Bound pods on it still count until `end`. */
  remove(name: string): readonly FleetPod[] {
    const pods = this.podsOn(name);
    const node = this.node(name);
    for (const pod of pods) this.topology.bind(this.group(pod), node, -1);
    this.#nodes.delete(name);
    this.#podsOn.delete(name);
    return pods;
  }

  /** Stops counting the bound pods of a removed node. */
  end(name: string): void {
    this.#countBound(name, -1);
  }

  /** Puts a pod on a node without checks, and counts it for topology. */
  put(pod: FleetPod, node: PlannedNode): void {
    this.topology.bind(this.group(pod), node);
    this.record(pod, node);
  }

  /** Records that a pod is on a node. */
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
