/** Builds the scheduling problem from a snapshot of the cluster. Pure; what is computed for a pod is cached with the pod. */
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
import { hasFlavorLimits, withLimitsOf } from './flavor-limits.ts';
import { knownRequests } from './known-requests.ts';
import { heldBy, heldBySome, preferredNodes } from './model-locality.ts';
import { type PlannedTypes, plannedTypes } from './planned-types.ts';
import { type GroupedPod, hostPorts, podGroup, resources } from './pod-group.ts';
import { PodGroups, type SharedGroup } from './pod-groups.ts';
import { type PodSurroundings, type PreparedPod, preparePod } from './prepare-pod.ts';
import { allocatableOf, isInFlight, isLeaving, labelsOf, poolOf, type StateNode, taintsOf } from './state-node.ts';
import { TypeNames } from './type-names.ts';
import type { UsablePool } from './usable-pool.ts';

/** A snapshot of the cluster. */
export interface ClusterSnapshot extends PodSurroundings {
  readonly pending: readonly Pod[];
  /** Pods on nodes being removed: they are placed too, and do not count on their present nodes. */
  readonly displaced?: readonly Pod[];
  readonly nodes: readonly StateNode[];
  /** Whether no pod may be placed on a node that stays, initialized or starting. */
  isClosed?(node: StateNode): boolean;
  /** Claims that do not count against the limits of their pools, because their machines are about to be gone. */
  isLost?(claim: NodeClaim): boolean;
  /** Whether the pool can launch nodes right now. Default: yes. */
  launches?(pool: string): boolean;
  /** Resources that a starting node will have less of than its claim says. */
  missingFrom?(node: StateNode): Resources;
  /** Extra room on the node of a pending pod, for other pods that took the room of the last node launched for it. */
  roomBeside?(pod: Pod): Resources | undefined;
  /** Pods bound to a node that have not ended. */
  podsOn(node: string): readonly Pod[];
  readonly daemonSets: readonly DaemonSet[];
  readonly pools: readonly UsablePool[];
  /** Pools with `spec.replicas`: they launch no nodes for pods, but their starting nodes will have room. */
  readonly staticPools?: readonly UsablePool[];
  readonly namespaces: readonly Namespace[];
}

export interface BuiltProblem {
  readonly problem: Problem;
  /** The pods of the problem, by their number. */
  readonly pods: readonly Pod[];
  /** Pods that cannot be planned yet, and why. */
  readonly held: readonly { readonly pod: Pod; readonly problem: string }[];
  /** The cloud's name of an instance type of the problem. */
  cloudName(instanceType: string): string;
  /** The snapshot it was built from. */
  readonly snapshot: Pick<ClusterSnapshot, 'nodes' | 'pools' | 'podsOn'>;
}

/** Builds the problem of a snapshot without interruption. */
export function buildProblem(snapshot: ClusterSnapshot): BuiltProblem {
  return finish(buildProblemSteps(snapshot));
}

/** The same in slices, so that a large cluster does not block the event loop. The snapshot must not change meanwhile. */
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
  const locality = groups.some(({ preferredNodes: preferred }) => preferred !== undefined);
  for (const state of snapshot.nodes) {
    const here = snapshot.podsOn(state.name);
    nodes.push(
      ...existingNode(state, here, snapshot, planned).map((node) => (locality ? withHeld(node, state) : node)),
    );
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

/** Cost of a node and a pod here, in units of the engine's work (a few hundred nanoseconds each). */
const NODE_UNITS = 40;
const POD_UNITS = 20;

/** Groups equal pods. Pods are numbered by group, and within a group in their given order. */
function* groupPods(
  all: readonly Pod[],
  {
    roomBeside,
    nodes,
    ...surroundings
  }: Pick<ClusterSnapshot, 'storage' | 'models' | 'chosen' | 'roomBeside' | 'nodes'>,
  anchors: AffinityAnchors,
  work: Work,
): Slices<{ groups: PodGroup[]; pods: Pod[]; held: { pod: Pod; problem: string }[] }> {
  const shared = new PodGroups();
  const members = new Map<SharedGroup, Pod[]>();
  const held: { pod: Pod; problem: string }[] = [];
  let onNodes: ReadonlySet<string> | undefined;
  for (const pod of all) {
    const prepared = preparePod(pod, surroundings);
    if ('problem' in prepared) held.push({ pod, problem: prepared.problem });
    else {
      const beside = roomBeside?.(pod);
      const kept = anchors.of(pod);
      if (prepared.fetches !== undefined) onNodes ??= heldBySome(nodes);
      const near = onNodes === undefined ? prepared : nearby(prepared, onNodes);
      const anchored = kept.length === 0 ? near : { ...near, steps: anchoredSteps(near.steps, kept) };
      const choice = surroundings.chosen?.get(pod);
      const sized = choice === undefined || !hasFlavorLimits(pod) ? pod : withLimitsOf(pod, choice.flavor);
      const group = shared.of(beside === undefined ? sized : withOverhead(sized, beside), anchored);
      const others = members.get(group);
      if (others === undefined) members.set(group, [pod]);
      else others.push(pod);
    }
    if (work.spend(POD_UNITS)) yield;
  }
  const groups = Array.from(members, ([{ group }, { length }]) => (length === 1 ? group : { ...group, count: length }));
  return { groups, pods: [...members.values()].flat(), held };
}

/**
 * Replaces the images and model caches that the pod fetches by the nodes that hold some of them. If no node does, the pod has no
 * preference.
 */
function nearby(found: PreparedPod, held: ReadonlySet<string>): GroupedPod {
  if (found.fetches === undefined) return found;
  const { fetches, ...prepared } = found;
  const preferred = preferredNodes(fetches, held);
  return preferred.length === 0 ? prepared : { ...prepared, preferredNodes: preferred };
}

/** Looks up the labels of nodes by name. The index is built on first use, which is rare. */
function labelsByName(nodes: readonly StateNode[]): (name: string) => Labels {
  let byName: ReadonlyMap<string, StateNode> | undefined;
  return (name) => {
    byName ??= new Map(nodes.map((state) => [state.name, state]));
    const state = byName.get(name);
    return state === undefined ? {} : labelsOf(state);
  };
}

/** Adds resources to the pod's overhead. */
function withOverhead(pod: Pod, more: Resources): Pod {
  const overhead: Record<string, number> = { ...resources(resourceAmounts(pod.spec.overhead)) };
  for (const [name, amount] of Object.entries(more)) overhead[name] = (overhead[name] ?? 0) + amount;
  return { ...pod, spec: { ...pod.spec, overhead: quantities(overhead) } };
}

/** The pods of a DaemonSet, as the engine plans them for new nodes. */
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

/** The node as the engine sees it; empty while its size is unknown. */
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
  // No pods are placed here, so its free room does not matter.
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

/** Adds the images and model caches that the node holds, as labels. */
function withHeld(node: ExistingNode, state: StateNode): ExistingNode {
  return { ...node, labels: { ...node.labels, ...heldBy(state) } };
}

/** Allocatable resources of a node, or the expected ones while it is starting. */
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

/** Allocatable resources minus these pods and the DaemonSet pods that are not there yet. */
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

/** The pods that fit into the room, in the given order. */
export function fitting(room: Resources, pods: readonly Pod[]): Pod[] {
  const free: Record<string, number> = { ...room };
  return pods.filter((pod) => {
    const needs = Object.entries({ pods: 1, ...knownRequests(pod).resources });
    if (needs.some(([name, amount]) => amount > (free[name] ?? 0))) return false;
    take(free, knownRequests(pod).resources);
    return true;
  });
}

/** Expected allocatable resources of a machine that is not launched yet. */
export function plannedAllocatable({ claim }: StateNode, planned: PlannedTypes): Resources | undefined {
  const type = claim === undefined ? undefined : planned(claim);
  if (type === undefined) return undefined;
  const { capacity, overhead = {} } = type;
  return Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => [name, Math.max(0, amount - (overhead[name] ?? 0))]),
  );
}

/** Subtracts a pod's requests, and one of `pods`. The result is never negative. */
export function take(free: Record<string, number>, requests: Resources): void {
  for (const [name, amount] of Object.entries({ pods: 1, ...requests })) {
    if (free[name] !== undefined) free[name] = Math.max(0, free[name] - amount);
  }
}

// Cached pods are replaced, never changed, so this stays valid as long as the pod object exists.
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
