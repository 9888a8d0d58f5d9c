/** From the cluster as it is to the question the engine is asked. Pure; what is told of a pod is remembered with the pod. */
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Namespace } from '../apis/kubernetes/core.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { podRequests, resourceAmounts } from '../apis/kubernetes/pod-requests.ts';
import { quantities } from '../apis/kubernetes/resource-quantities.ts';
import type { DaemonSet } from '../apis/kubernetes/workloads.ts';
import { finish, type Slices, UNLIMITED, Work } from '../engine/packing/work.ts';
import type { BoundPod, DaemonGroup, ExistingNode, Labels, PodGroup, Problem, Resources } from '../engine/problem.ts';
import { AffinityAnchors, anchoredSteps } from './affinity-anchors.ts';
import { type ComingDaemon, daemonsToCome } from './daemons-to-come.ts';
import { enginePool, poolUsage } from './engine-pool.ts';
import { nodeRequirements } from './engine-requirements.ts';
import { knownRequests } from './known-requests.ts';
import { type PlannedTypes, plannedTypes } from './planned-types.ts';
import { hostPorts, podGroup, resources } from './pod-group.ts';
import { PodGroups, type SharedGroup } from './pod-groups.ts';
import { type PodSurroundings, preparePod } from './prepare-pod.ts';
import { allocatableOf, isInFlight, isLeaving, labelsOf, poolOf, type StateNode, taintsOf } from './state-node.ts';
import { TypeNames } from './type-names.ts';
import type { UsablePool } from './usable-pool.ts';

/** The cluster at one moment. */
export interface ClusterSnapshot extends PodSurroundings {
  readonly pending: readonly Pod[];
  /** Pods on nodes that go: they are given a place too, and no longer count where they are. */
  readonly displaced?: readonly Pod[];
  readonly nodes: readonly StateNode[];
  /** Whether nothing is to be placed on a node although it stays, and whether it is up or on its way. */
  isClosed?(node: StateNode): boolean;
  /** Claims that do not count against the limits of their pools any more: nothing of them will be left shortly. */
  isLost?(claim: NodeClaim): boolean;
  /** Whether a pool can be asked for nodes now; default every one. */
  launches?(pool: string): boolean;
  /** What a node on its way will lack of what its cloud says it has. */
  missingFrom?(node: StateNode): Resources;
  /** Room that must be on the node of a pending pod beside what the pod asks for: something takes it that no plan knows of. */
  roomBeside?(pod: Pod): Resources | undefined;
  /** Pods bound to a node that have not ended. */
  podsOn(node: string): readonly Pod[];
  readonly daemonSets: readonly DaemonSet[];
  readonly pools: readonly UsablePool[];
  /** Pools that make no nodes for pods, but whose nodes on the way will have room: those with `spec.replicas`. */
  readonly staticPools?: readonly UsablePool[];
  readonly namespaces: readonly Namespace[];
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
  readonly snapshot: Pick<ClusterSnapshot, 'nodes' | 'pools' | 'podsOn'>;
}

/** Builds the problem of a snapshot without interruption. */
export function buildProblem(snapshot: ClusterSnapshot): BuiltProblem {
  return finish(buildProblemSteps(snapshot));
}

/** The same in slices, because a large cluster takes longer than anybody should wait; the snapshot must not change meanwhile. */
export function* buildProblemSteps(snapshot: ClusterSnapshot): Slices<BuiltProblem> {
  const work = new Work(UNLIMITED);
  const displaced = new Set(snapshot.displaced ?? []);
  const anchors = new AffinityAnchors([...displaced], labelsByName(snapshot.nodes));
  const { groups, pods, held } = yield* groupPods([...snapshot.pending, ...displaced], snapshot, anchors, work);
  yield;
  const planned = plannedTypes([...snapshot.pools, ...(snapshot.staticPools ?? [])]);
  const names = new TypeNames();
  const pools = snapshot.pools.map(({ pool, instanceTypes }) => {
    const claims = snapshot.nodes.flatMap((state) =>
      state.claim !== undefined && poolOf(state) === pool.metadata.name && !snapshot.isLost?.(state.claim)
        ? [state.claim]
        : [],
    );
    const { group, kind, name } = pool.spec.template.spec.nodeClassRef;
    const called = names.add(`${group}/${kind}/${name}`, instanceTypes);
    const launches = snapshot.launches?.(pool.metadata.name ?? '') !== false;
    return enginePool(pool, launches ? called : [], poolUsage(claims, planned));
  });
  yield;
  const daemons = snapshot.daemonSets.map(daemonGroup);
  const nodes: ExistingNode[] = [];
  const boundPods: BoundPod[] = [];
  for (const state of snapshot.nodes) {
    const here = snapshot.podsOn(state.name);
    nodes.push(...existingNode(state, here, snapshot, planned));
    for (const pod of here) if (!displaced.has(pod)) boundPods.push({ ...boundPod(pod), node: state.name });
    if (work.spend(NODE_UNITS + here.length * POD_UNITS)) yield;
  }
  const problem: Problem = {
    pods: groups,
    pools,
    instanceTypes: names.all(),
    nodes,
    boundPods,
    daemons,
    namespaces: Object.fromEntries(
      snapshot.namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]),
    ),
  };
  const cloudName = (instanceType: string): string => names.cloudName(instanceType);
  return { problem, pods, held, cloudName, snapshot };
}

/** A unit of the engine's work is a few hundred nanoseconds; these are what a node and a pod take here. */
const NODE_UNITS = 40;
const POD_UNITS = 20;

/** Gathers pods that are alike; their numbers follow the order of the groups, and in a group their own. */
function* groupPods(
  all: readonly Pod[],
  { roomBeside, ...surroundings }: Pick<ClusterSnapshot, 'storage' | 'models' | 'roomBeside'>,
  anchors: AffinityAnchors,
  work: Work,
): Slices<{ groups: PodGroup[]; pods: Pod[]; held: { pod: Pod; problem: string }[] }> {
  const shared = new PodGroups();
  const members = new Map<SharedGroup, Pod[]>();
  const held: { pod: Pod; problem: string }[] = [];
  for (const pod of all) {
    const prepared = preparePod(pod, surroundings);
    if ('problem' in prepared) held.push({ pod, problem: prepared.problem });
    else {
      const beside = roomBeside?.(pod);
      const kept = anchors.of(pod);
      const anchored = kept.length === 0 ? prepared : { ...prepared, steps: anchoredSteps(prepared.steps, kept) };
      const group = shared.of(beside === undefined ? pod : withOverhead(pod, beside), anchored);
      const others = members.get(group);
      if (others === undefined) members.set(group, [pod]);
      else others.push(pod);
    }
    if (work.spend(POD_UNITS)) yield;
  }
  const groups = Array.from(members, ([{ group }, { length }]) => (length === 1 ? group : { ...group, count: length }));
  return { groups, pods: [...members.values()].flat(), held };
}

/** The labels of nodes, which are looked up for few pods or none. */
function labelsByName(nodes: readonly StateNode[]): (name: string) => Labels {
  let byName: ReadonlyMap<string, StateNode> | undefined;
  return (name) => {
    byName ??= new Map(nodes.map((state) => [state.name, state]));
    const state = byName.get(name);
    return state === undefined ? {} : labelsOf(state);
  };
}

/** The pod as if it took more of its node than its containers do. */
function withOverhead(pod: Pod, more: Resources): Pod {
  const overhead: Record<string, number> = { ...resources(resourceAmounts(pod.spec.overhead)) };
  for (const [name, amount] of Object.entries(more)) overhead[name] = (overhead[name] ?? 0) + amount;
  return { ...pod, spec: { ...pod.spec, overhead: quantities(overhead) } };
}

/** A DaemonSet as its pods will be on new nodes. */
export function daemonGroup(daemonSet: DaemonSet): DaemonGroup {
  const { spec, metadata: { labels = {} } = {} } = daemonSet.spec.template;
  const { namespace = '', name = '' } = daemonSet.metadata;
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, labels }, spec };
  const { podAntiAffinity } = podGroup(pod);
  return {
    name: `${namespace}/${name}`,
    namespace,
    labels,
    requests: resources(podRequests(pod)),
    requirements: nodeRequirements(spec),
    tolerations: spec.tolerations ?? [],
    hostPorts: hostPorts(spec),
    ...(podAntiAffinity && { podAntiAffinity }),
  };
}

/** Nothing while nobody knows how large it is. */
function existingNode(
  state: StateNode,
  pods: readonly Pod[],
  snapshot: ClusterSnapshot,
  planned: PlannedTypes,
): ExistingNode[] {
  const { daemonSets, isClosed } = snapshot;
  const pool = poolOf(state);
  const known = {
    name: state.name,
    labels: labelsOf(state),
    taints: taintsOf(state),
    ...(pool === undefined ? {} : { pool }),
    ...(isInFlight(state) ? { inFlight: true } : {}),
  };
  // Nothing is placed there, so nobody has to know what is free.
  if (isLeaving(state) || isClosed?.(state)) return [{ ...known, free: {}, leaving: true }];
  const allocatable = expectedRoom(state, snapshot, planned);
  if (allocatable === undefined) return [];
  const coming = daemonsToCome(state, pods, daemonSets);
  const specs = [...pods, ...coming.map(({ daemonSet }) => daemonSet.spec.template)].map(({ spec }) => spec);
  const ports = specs.flatMap(hostPorts);
  return [
    {
      ...known,
      free: freeRoom(allocatable, pods, coming),
      ...(ports.length === 0 ? {} : { usedHostPorts: ports }),
      ...(coming.length === 0 ? {} : { daemonsToCome: coming.map(({ number }) => number) }),
    },
  ];
}

/** What pods can have of a node, or will have of it once it is up. */
function expectedRoom(
  state: StateNode,
  { missingFrom }: ClusterSnapshot,
  planned: PlannedTypes,
): Resources | undefined {
  const told = allocatableOf(state);
  if (told === undefined) return plannedAllocatable(state, planned);
  const room = resources(resourceAmounts(told));
  if (!isInFlight(state) || missingFrom === undefined) return room;
  const missing = missingFrom(state);
  return Object.fromEntries(
    Object.entries(room).map(([name, amount]) => [name, Math.max(0, amount - (missing[name] ?? 0))]),
  );
}

/** What is left for others beside these pods and those of DaemonSets that are still to come. */
export function freeRoom(
  allocatable: Resources,
  pods: readonly Pod[],
  coming: readonly Pick<ComingDaemon, 'daemonSet'>[],
): Resources {
  const free: Record<string, number> = { ...allocatable };
  for (const pod of pods) take(free, knownRequests(pod).resources);
  for (const { daemonSet } of coming) take(free, resources(podRequests(daemonSet.spec.template)));
  return free;
}

/** Those of the pods, first come first served, that there is room for. */
export function fitting(room: Resources, pods: readonly Pod[]): Pod[] {
  const free: Record<string, number> = { ...room };
  return pods.filter((pod) => {
    const needs = Object.entries({ pods: 1, ...knownRequests(pod).resources });
    if (needs.some(([name, amount]) => amount > (free[name] ?? 0))) return false;
    take(free, knownRequests(pod).resources);
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
const BOUND = new WeakMap<Pod, Omit<BoundPod, 'node'>>();

function boundPod(pod: Pod): Omit<BoundPod, 'node'> {
  const known = BOUND.get(pod);
  if (known !== undefined) return known;
  const { namespace, labels, podAntiAffinity } = podGroup(pod);
  const bound = {
    namespace,
    ...(labels && { labels }),
    ...(podAntiAffinity && { podAntiAffinity }),
    ...(pod.metadata.deletionTimestamp === undefined ? {} : { ending: true }),
  };
  BOUND.set(pod, bound);
  return bound;
}
