/** A fleet as numbers: pods in classes on nodes, over the same compiled model that the solver works on. */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import { compileInSlices, type Model, type PodClass } from '../compile/model.ts';
import type { Slices, Work } from '../packing/work.ts';
import type { ExistingNode, Problem } from '../problem.ts';
import type { Fleet, FleetNode } from './fleet.ts';

/** The compiled fleet; pods and nodes keep their indices from the fleet's lists. */
export interface CompiledFleet {
  readonly fleet: Fleet;
  readonly model: Model;
  readonly podClass: Int32Array;
  /** The node each pod runs on now. */
  readonly podHome: Int32Array;
  /** The filter that nodes and options must pass to hold the pod. */
  readonly podFilter: Int32Array;
  readonly evictionCost: Float64Array;
  /** By node: the pods that stay on it until it is removed, if any rule counts them. */
  readonly boundOn: ReadonlyMap<number, readonly BoundCount[]>;
  /** Index of each node's pool in `fleet.pools`; -1 for none. */
  readonly nodePool: Int32Array;
}

/** Identical bound pods, and the topology groups that count them. */
export interface BoundCount {
  readonly counted: Int32Array;
  readonly count: number;
}

/** Compiles a fleet. */
export function* compileFleet(fleet: Fleet, work: Work): Slices<CompiledFleet> {
  const nodeNumber = new Map(fleet.nodes.map((node, index) => [node.name, index]));
  const counts = new Int32Array(fleet.groups.length);
  for (const pod of fleet.pods) counts[pod.group] = (counts[pod.group] as number) + 1;
  const problem: Problem = {
    pods: fleet.groups.map((group, index) => ({ ...group, count: counts[index] as number })),
    pools: fleet.pools,
    instanceTypes: fleet.instanceTypes,
    nodes: fleet.nodes.map(toExisting),
    ...(fleet.boundPods === undefined ? {} : { boundPods: fleet.boundPods }),
    ...(fleet.daemons === undefined ? {} : { daemons: fleet.daemons }),
    ...(fleet.namespaces === undefined ? {} : { namespaces: fleet.namespaces }),
  };
  const model = yield* compileInSlices(problem, { preferences: false, preferenceSlack: 0 });
  yield;
  const classOfGroup = new Int32Array(fleet.groups.length).fill(-1);
  const groupOf = groupNumbers(model);
  model.classes.forEach((podClass) => {
    for (const pod of podClass.pods) classOfGroup[groupOf(pod)] = podClass.index;
  });
  const podClass = new Int32Array(fleet.pods.length);
  const podHome = new Int32Array(fleet.pods.length);
  const podFilter = new Int32Array(fleet.pods.length);
  const firstSold = new Map<PodClass, number>();
  const evictionCost = new Float64Array(fleet.pods.length);
  for (const [index, pod] of fleet.pods.entries()) {
    podClass[index] = classOfGroup[pod.group] as number;
    podHome[index] = nodeNumber.get(pod.node) as number;
    podFilter[index] = filterFor(model, model.classes[podClass[index]] as PodClass, podHome[index], firstSold);
    evictionCost[index] = Math.max(0, pod.evictionCost ?? 1);
    if (work.spend(2)) yield;
  }
  const boundOn = new Map<number, BoundCount[]>();
  for (const [index, { node, count = 1 }] of (fleet.boundPods ?? []).entries()) {
    const counted = model.boundCounts[index] as Int32Array;
    if (counted.length > 0) {
      const at = nodeNumber.get(node) as number;
      const others = boundOn.get(at);
      if (others === undefined) boundOn.set(at, [{ counted, count }]);
      else others.push({ counted, count });
    }
    if (work.spend(1)) yield;
  }
  const poolNumber = new Map(fleet.pools.map((pool, index) => [pool.name, index]));
  const nodePool = Int32Array.from(fleet.nodes, (node) => poolNumber.get(node.pool ?? '') ?? -1);
  return { fleet, model, podClass, podHome, podFilter, evictionCost, boundOn, nodePool };
}

/** Nodes that are closed to pods are `leaving` to the solver. All nodes are completely free here, since the pods are placed afterwards. */
function toExisting(node: FleetNode): ExistingNode {
  return {
    name: node.name,
    labels: node.labels,
    free: node.allocatable,
    ...(node.pool === undefined ? {} : { pool: node.pool }),
    ...(node.taints === undefined ? {} : { taints: node.taints }),
    ...(node.closed === true ? { leaving: true } : {}),
    ...(node.volumeAttachLimits === undefined ? {} : { freeVolumeAttachments: node.volumeAttachLimits }),
    ...(node.usedHostPorts === undefined ? {} : { usedHostPorts: node.usedHostPorts }),
    ...(node.daemonsToCome === undefined ? {} : { daemonsToCome: node.daemonsToCome }),
  };
}

function groupNumbers(model: Model): (pod: number) => number {
  const group = new Int32Array(model.podCount);
  model.groupStart.forEach((start, index) => {
    group.fill(index, start, model.groupStart[index + 1] ?? start);
  });
  return (pod) => group[pod] as number;
}

/**
 * A pod with ordered alternatives is not moved to a later one to save money. If an earlier one is available again, the pod
 * is only moved to that: so it returns to it when that pays off.
 */
function filterFor(model: Model, podClass: PodClass, home: number, firstSold: Map<PodClass, number>): number {
  const { attempts } = podClass;
  if (attempts.length === 1) return attempts[0]?.options ?? -1;
  const now = attempts.findIndex(({ options }) => hasBit((model.admitted[options] as Admitted).nodes, home));
  if (now <= 0) return attempts[0]?.options ?? -1;
  let sold = firstSold.get(podClass);
  if (sold === undefined) {
    const found = attempts.findIndex(({ options }) => isSold(model, podClass, options));
    sold = found < 0 ? attempts.length : found;
    firstSold.set(podClass, sold);
  }
  return attempts[Math.min(now, sold)]?.options ?? -1;
}

/** Whether a node can be launched for a pod of the class. */
function isSold({ admitted, catalogue, dimensions }: Model, { requests }: PodClass, filter: number): boolean {
  const { options } = admitted[filter] as Admitted;
  for (let option = 0; option < catalogue.optionCount; option++) {
    if (!hasBit(options, option)) continue;
    const row = (catalogue.optionTemplate[option] as number) * dimensions.size;
    if (requests.every((amount, column) => amount <= (catalogue.alloc[row + column] as number))) return true;
  }
  return false;
}
