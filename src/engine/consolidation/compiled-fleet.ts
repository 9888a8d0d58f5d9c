/** A fleet as numbers: pods in classes on nodes, over the same compiled model that the solver works on. */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import { compileModel, type Model, type PodClass } from '../compile/model.ts';
import type { ExistingNode, Problem } from '../problem.ts';
import type { Fleet, FleetNode } from './fleet.ts';

/** The compiled fleet; pods and nodes keep the numbers they have in the fleet's lists. */
export interface CompiledFleet {
  readonly fleet: Fleet;
  readonly model: Model;
  readonly podClass: Int32Array;
  /** Node each pod runs on now. */
  readonly podHome: Int32Array;
  /** The filter that nodes and options must pass to take the pod. */
  readonly podFilter: Int32Array;
  readonly evictionCost: Float64Array;
  /** Number of the pool of each node in `fleet.pools`; -1 for none. */
  readonly nodePool: Int32Array;
}

/** Compiles a fleet. */
export function compileFleet(fleet: Fleet): CompiledFleet {
  const nodeNumber = new Map(fleet.nodes.map((node, index) => [node.name, index]));
  const counts = new Int32Array(fleet.groups.length);
  for (const pod of fleet.pods) counts[pod.group] = (counts[pod.group] as number) + 1;
  const problem: Problem = {
    pods: fleet.groups.map((group, index) => ({ ...group, count: counts[index] as number })),
    pools: fleet.pools,
    instanceTypes: fleet.instanceTypes,
    nodes: fleet.nodes.map(toExisting),
    ...(fleet.daemons === undefined ? {} : { daemons: fleet.daemons }),
    ...(fleet.namespaces === undefined ? {} : { namespaces: fleet.namespaces }),
  };
  const model = compileModel(problem, { preferences: false, preferenceSlack: 0 });
  const classOfGroup = new Int32Array(fleet.groups.length).fill(-1);
  const groupOf = groupNumbers(model);
  model.classes.forEach((podClass) => {
    for (const pod of podClass.pods) classOfGroup[groupOf(pod)] = podClass.index;
  });
  const podClass = Int32Array.from(fleet.pods, (pod) => classOfGroup[pod.group] as number);
  const podHome = Int32Array.from(fleet.pods, (pod) => nodeNumber.get(pod.node) ?? -1);
  const poolNumber = new Map(fleet.pools.map((pool, index) => [pool.name, index]));
  return {
    fleet,
    model,
    podClass,
    podHome,
    podFilter: Int32Array.from(fleet.pods, (_, pod) =>
      filterFor(model, model.classes[podClass[pod] as number] as PodClass, podHome[pod] as number),
    ),
    evictionCost: Float64Array.from(fleet.pods, (pod) => Math.max(0, pod.evictionCost ?? 1)),
    nodePool: Int32Array.from(fleet.nodes, (node) => poolNumber.get(node.pool ?? '') ?? -1),
  };
}

/** Nodes that take nothing are `leaving` to the solver; all have their whole room free, since the pods are placed afterwards. */
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
  };
}

function groupNumbers(model: Model): (pod: number) => number {
  const group = new Int32Array(model.podCount);
  model.groupStart.forEach((start, index) => {
    group.fill(index, start, model.groupStart[index + 1] ?? start);
  });
  return (pod) => group[pod] as number;
}

/** A pod with ordered alternatives keeps to the one it has now: it is not moved to a worse one to save money. */
function filterFor(model: Model, podClass: PodClass, home: number): number {
  const now = podClass.attempts.find(
    ({ options }) => home >= 0 && hasBit((model.admitted[options] as Admitted).nodes, home),
  );
  return (now ?? podClass.attempts[0])?.options ?? -1;
}
