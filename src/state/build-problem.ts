/** From the cluster as it is to the question the engine is asked. Pure; what is told of a pod is remembered with the pod. */
import type { Namespace } from '../apis/kubernetes/core.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { podRequests, resourceAmounts } from '../apis/kubernetes/pod-requests.ts';
import type { DaemonSet } from '../apis/kubernetes/workloads.ts';
import type { BoundPod, DaemonGroup, ExistingNode, PodGroup, Problem, Resources } from '../engine/problem.ts';
import { daemonRunsOn } from './daemon-placement.ts';
import { enginePool, poolUsage } from './engine-pool.ts';
import { nodeRequirements } from './engine-requirements.ts';
import { type PlannedTypes, plannedCapacity, plannedTypes } from './planned-types.ts';
import { hostPorts, podGroup, resources } from './pod-group.ts';
import { podVolumes, type StorageLookup } from './pod-volumes.ts';
import { allocatableOf, isInFlight, isLeaving, labelsOf, poolOf, type StateNode, taintsOf } from './state-node.ts';
import { TypeNames } from './type-names.ts';
import type { UsablePool } from './usable-pool.ts';

/** The cluster at one moment. */
export interface ClusterSnapshot {
  readonly pending: readonly Pod[];
  /** Pods on nodes that go: they are given a place too, and no longer count where they are. */
  readonly displaced?: readonly Pod[];
  readonly nodes: readonly StateNode[];
  /** Pods bound to a node that have not ended. */
  podsOn(node: string): readonly Pod[];
  readonly daemonSets: readonly DaemonSet[];
  readonly pools: readonly UsablePool[];
  readonly namespaces: readonly Namespace[];
  readonly storage: StorageLookup;
}

export interface BuiltProblem {
  readonly problem: Problem;
  /** The pods of the problem, by their number. */
  readonly pods: readonly Pod[];
  /** Pods that cannot be asked about yet, and why. */
  readonly held: readonly { readonly pod: Pod; readonly problem: string }[];
  /** What the cloud calls an instance type of the problem. */
  cloudName(instanceType: string): string;
  /** What it was built from. */
  readonly snapshot: Pick<ClusterSnapshot, 'nodes' | 'pools'>;
}

export function buildProblem(snapshot: ClusterSnapshot): BuiltProblem {
  const groups: PodGroup[] = [];
  const pods: Pod[] = [];
  const held: { pod: Pod; problem: string }[] = [];
  const displaced = new Set(snapshot.displaced ?? []);
  for (const pod of [...snapshot.pending, ...displaced]) {
    const volumes = podVolumes(pod, snapshot.storage);
    if ('problem' in volumes) {
      held.push({ pod, problem: volumes.problem });
      continue;
    }
    groups.push(podGroup(pod, volumes));
    pods.push(pod);
  }
  const planned = plannedTypes(snapshot.pools);
  const capacity = plannedCapacity(snapshot.pools);
  const names = new TypeNames();
  const pools = snapshot.pools.map(({ pool, instanceTypes }) => {
    const claims = snapshot.nodes.flatMap((state) =>
      state.claim !== undefined && poolOf(state) === pool.metadata.name ? [state.claim] : [],
    );
    const { group, kind, name } = pool.spec.template.spec.nodeClassRef;
    return enginePool(pool, names.add(`${group}/${kind}/${name}`, instanceTypes), poolUsage(claims, capacity));
  });
  const daemons = snapshot.daemonSets.map(daemonGroup);
  const problem: Problem = {
    pods: groups,
    pools,
    instanceTypes: names.all(),
    nodes: snapshot.nodes.flatMap((state) =>
      existingNode(state, snapshot.podsOn(state.name), snapshot.daemonSets, planned),
    ),
    boundPods: snapshot.nodes.flatMap((state) =>
      snapshot
        .podsOn(state.name)
        .flatMap((pod) => (displaced.has(pod) ? [] : [{ ...boundPod(pod), node: state.name }])),
    ),
    daemons,
    namespaces: Object.fromEntries(
      snapshot.namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]),
    ),
  };
  return { problem, pods, held, cloudName: (instanceType) => names.cloudName(instanceType), snapshot };
}

/** A DaemonSet as its pods will be on new nodes. */
export function daemonGroup(daemonSet: DaemonSet): DaemonGroup {
  const { spec } = daemonSet.spec.template;
  const { namespace, name } = daemonSet.metadata;
  return {
    name: `${namespace}/${name}`,
    requests: resources(podRequests({ spec })),
    requirements: nodeRequirements(spec),
    tolerations: spec.tolerations ?? [],
    hostPorts: hostPorts(spec),
  };
}

/** Nothing while nobody knows how large it is. */
function existingNode(
  state: StateNode,
  pods: readonly Pod[],
  daemonSets: readonly DaemonSet[],
  planned: PlannedTypes,
): ExistingNode[] {
  const known = allocatableOf(state);
  const allocatable = known === undefined ? plannedAllocatable(state, planned) : resources(resourceAmounts(known));
  if (allocatable === undefined) return [];
  const labels = labelsOf(state);
  const taints = taintsOf(state);
  const free = freeRoom(state, allocatable, pods, daemonSets);
  const pool = poolOf(state);
  const ports = pods.flatMap((pod) => hostPorts(pod.spec));
  return [
    {
      name: state.name,
      labels,
      taints,
      free,
      ...(pool === undefined ? {} : { pool }),
      ...(isInFlight(state) ? { inFlight: true } : {}),
      ...(isLeaving(state) ? { leaving: true } : {}),
      ...(ports.length === 0 ? {} : { usedHostPorts: ports }),
    },
  ];
}

/** What is left for others beside these pods and those of DaemonSets that are still to come. */
export function freeRoom(
  state: StateNode,
  allocatable: Resources,
  pods: readonly Pod[],
  daemonSets: readonly DaemonSet[],
): Resources {
  const labels = labelsOf(state);
  const taints = taintsOf(state);
  const free: Record<string, number> = { ...allocatable };
  for (const pod of pods) take(free, requestsOf(pod));
  for (const daemonSet of daemonSets) {
    const here = pods.some((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === daemonSet.metadata.uid));
    if (here || !daemonRunsOn(daemonSet, labels, taints)) continue;
    take(free, resources(podRequests(daemonSet.spec.template)));
  }
  return free;
}

/** Those of the pods, first come first served, that there is room for. */
export function fitting(room: Resources, pods: readonly Pod[]): Pod[] {
  const free: Record<string, number> = { ...room };
  return pods.filter((pod) => {
    const needs = Object.entries({ pods: 1, ...requestsOf(pod) });
    if (needs.some(([name, amount]) => amount > (free[name] ?? 0))) return false;
    take(free, requestsOf(pod));
    return true;
  });
}

/** What pods will have of a machine that is not launched yet. */
export function plannedAllocatable({ claim }: StateNode, planned: PlannedTypes): Resources | undefined {
  const type = claim === undefined ? undefined : planned(claim);
  if (type === undefined) return undefined;
  const { capacity, overhead = {} } = type;
  return Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => [name, Math.max(0, amount - (overhead[name] ?? 0))]),
  );
}

/** A pod takes what it asks for and one place; what is left is never below nothing. */
export function take(free: Record<string, number>, requests: Resources): void {
  for (const [name, amount] of Object.entries({ pods: 1, ...requests })) {
    if (free[name] !== undefined) free[name] = Math.max(0, free[name] - amount);
  }
}

// Pods of the cache are never changed but replaced, so what was computed for one holds as long as it lives.
const REQUESTS = new WeakMap<Pod, Resources>();
const BOUND = new WeakMap<Pod, Omit<BoundPod, 'node'>>();

export function requestsOf(pod: Pod): Resources {
  const known = REQUESTS.get(pod);
  if (known !== undefined) return known;
  const requests = resources(podRequests(pod));
  REQUESTS.set(pod, requests);
  return requests;
}

function boundPod(pod: Pod): Omit<BoundPod, 'node'> {
  const known = BOUND.get(pod);
  if (known !== undefined) return known;
  const { namespace, labels, podAntiAffinity } = podGroup(pod);
  const bound = { namespace, ...(labels && { labels }), ...(podAntiAffinity && { podAntiAffinity }) };
  BOUND.set(pod, bound);
  return bound;
}
