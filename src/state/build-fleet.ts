/**
 * Builds the input of consolidation from a snapshot of the cluster. Pure. It works in slices, because a large cluster would block the event
 * loop for too long. The facts of each pod are cached with the pod.
 *
 * A node that is nominated for pods is left alone, and no pods are moved to it, so its room stays reserved for them. Nodes that are not
 * initialized, not ready, or being removed receive no pods either.
 */
import { LABEL_INSTANCE_TYPE } from '../apis/karpenter/labels.ts';
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../apis/kubernetes/pod-disruption-budget.ts';
import { podRequests } from '../apis/kubernetes/pod-requests.ts';
import type { BlockingPod, DisruptionReason, Fleet, FleetNode, FleetPod } from '../engine/consolidation/fleet.ts';
import { finish, type Slices, UNLIMITED, Work } from '../engine/packing/work.ts';
import type { BoundPod, HostPort, InstanceType, Labels, PodGroup, Resources } from '../engine/problem.ts';
import type { EpochMs } from '../platform/clock.ts';
import { type ClusterSnapshot, daemonGroup, plannedAllocatable, take } from './build-problem.ts';
import { daemonsToCome } from './daemons-to-come.ts';
import { doNotDisruptUntil } from './do-not-disrupt.ts';
import { enginePool, poolUsage } from './engine-pool.ts';
import { FleetBudgets } from './fleet-budgets.ts';
import { knownRequests } from './known-requests.ts';
import { type NodeHold, nodeHold, settledAt } from './node-hold.ts';
import { nodePrice, runningAs } from './node-price.ts';
import { type PlannedTypes, plannedTypes } from './planned-types.ts';
import { type PodFacts, PodFactsCache } from './pod-facts.ts';
import { hostPorts, listedResources, resources } from './pod-group.ts';
import type { SharedGroup } from './pod-groups.ts';
import { allocatableOf, labelsOf, poolOf, type StateNode, taintsOf } from './state-node.ts';
import { TypeNames } from './type-names.ts';
import { groupName, groupPods } from './worker-group.ts';

/** A snapshot of the cluster for consolidation. */
export interface FleetSnapshot extends Omit<ClusterSnapshot, 'pending' | 'displaced'> {
  readonly now: EpochMs;
  /** All pools, including those that cannot launch nodes right now. */
  readonly nodePools: readonly NodePool[];
  readonly disruptionBudgets: readonly PodDisruptionBudget[];
  /** The reservation of a node with these labels, if it has one. */
  readonly reservationOf?: (labels: Labels) => string | undefined;
  /** The pod of that name. Default: none, so that protection of one pod does not cover the rest of its group. */
  podNamed?(key: { readonly namespace: string; readonly name: string }): Pod | undefined;
  /** Whether the node is nominated for pods that are not bound yet. */
  isNominated?(state: StateNode): boolean;
  /** The last pod event of a node, if its claim does not show it yet. */
  podEventAt?(node: string): EpochMs | undefined;
  /** Disruptions allowed right now, per pool and reason. No entry means unlimited. */
  allowed?(pool: string): Readonly<Partial<Record<DisruptionReason, number>>>;
  /** Whether the pool can launch nodes right now. Default: yes. */
  launches?(pool: string): boolean;
  /** How long a replacement node must not be replaced itself. */
  readonly cooldownMs?: number;
  /** Whether a SpotPolicy holds a node for now, and until when. */
  policyHold?(state: StateNode): PolicyHold | undefined;
}

/** Why a SpotPolicy holds a node. */
export interface PolicyHold extends Omit<NodeHold, 'hold'> {
  /** Shown to users. */
  readonly because: string;
}

/** The consolidation input, and what its names and numbers stand for. */
export interface BuiltFleet {
  readonly fleet: Fleet;
  /** The nodes of the fleet, by name. */
  readonly states: ReadonlyMap<string, StateNode>;
  /** The pods of the fleet, by number. */
  readonly pods: readonly Pod[];
  /** The cloud's name of an instance type of the fleet. */
  cloudName(instanceType: string): string;
  /** When the input changes by time alone: a hold or the protection of a pod ends. */
  readonly changesAt?: EpochMs;
  /** When held nodes become candidates, for holds with a known end. */
  readonly heldUntil: readonly EpochMs[];
}

/** Long enough for evicted pods to be recreated and bound. Whether moves work out is learnt separately. */
export const DEFAULT_COOLDOWN_MS = 120_000;

/** Builds the fleet of a snapshot without interruption. */
export function buildFleet(snapshot: FleetSnapshot, cache = new PodFactsCache()): BuiltFleet {
  return finish(buildFleetSteps(snapshot, cache));
}

/** The same in slices. */
export function* buildFleetSteps(snapshot: FleetSnapshot, cache: PodFactsCache): Slices<BuiltFleet> {
  const work = new Work(UNLIMITED);
  const market = marketOf(snapshot);
  yield;
  const builder = new FleetBuilder(snapshot, cache, market);
  for (const state of snapshot.nodes) {
    const units = builder.add(state);
    if (work.spend(units)) yield;
  }
  yield;
  return builder.built();
}

/** The pools, and the instance types they can launch, with their names in the fleet. */
interface Market {
  readonly pools: Fleet['pools'];
  readonly names: TypeNames;
  readonly planned: PlannedTypes;
  /** By pool and by the cloud's name of the type. */
  readonly types: ReadonlyMap<string, ReadonlyMap<string, SoldType>>;
}

/** An instance type of the market. */
interface SoldType {
  /** Its name in the fleet. */
  readonly name: string;
  /** With the prices actually paid. The prices used for new launches include a risk premium. */
  readonly type: InstanceType;
}

function marketOf({ nodePools, pools, nodes, launches }: FleetSnapshot): Market {
  const names = new TypeNames();
  const planned = plannedTypes(pools);
  const usable = new Map(pools.map((each) => [each.pool.metadata.name ?? '', each]));
  const claims = Map.groupBy(nodes, (state) => poolOf(state));
  const types = new Map<string, Map<string, SoldType>>();
  const engine = nodePools.map((pool) => {
    const name = pool.metadata.name ?? '';
    const { nodeClassRef } = pool.spec.template.spec;
    const { instanceTypes = [], sold = instanceTypes } = usable.get(name) ?? {};
    const called = names.add(`${nodeClassRef.group}/${nodeClassRef.kind}/${nodeClassRef.name}`, instanceTypes);
    types.set(name, new Map(sold.map((type, index) => [type.name, { name: called[index] as string, type }])));
    const usage = poolUsage(
      (claims.get(name) ?? []).flatMap(({ claim }) => (claim === undefined ? [] : [claim])),
      planned,
    );
    // A pool that cannot launch nodes may still have nodes to remove.
    return enginePool(pool, launches?.(name) === false ? [] : called, usage);
  });
  // Without any instance type, the engine needs no pools.
  return { pools: names.all().length === 0 ? [] : engine, names, planned, types };
}

/** Cost of a node and a pod here, in units of the engine's work (a few hundred nanoseconds each). */
const NODE_UNITS = 60;
const POD_UNITS = 10;
const NEW_POD_UNITS = 60;

/** A pod that must be rescheduled if its node is removed. */
interface MovingPod {
  readonly pod: Pod;
  readonly facts: PodFacts;
}

/** The contents of a node besides the pods that would be rescheduled. */
interface Contents {
  /** Room left for pods that would be rescheduled. */
  readonly allocatable: Resources;
  readonly ports: readonly HostPort[];
  /** Numbers of DaemonSets whose pods are not on the node yet. */
  readonly coming: readonly number[];
  /** No pod on it would have to be rescheduled. */
  readonly empty: boolean;
  readonly blockedBy: BlockingPod | undefined;
}

/** Requests and ports of a DaemonSet's pod. */
interface DaemonNeeds {
  readonly requests: Resources;
  readonly ports: readonly HostPort[];
}

class FleetBuilder {
  readonly #snapshot: FleetSnapshot;
  readonly #cache: PodFactsCache;
  readonly #market: Market;
  readonly #nodePools: ReadonlyMap<string, NodePool>;
  readonly #budgets: FleetBudgets;
  readonly #daemons: readonly DaemonNeeds[];
  readonly #nodes: FleetNode[] = [];
  readonly #states = new Map<string, StateNode>();
  readonly #groups: PodGroup[] = [];
  readonly #groupNumber = new Map<SharedGroup, number>();
  readonly #fleetPods: FleetPod[] = [];
  readonly #pods: Pod[] = [];
  readonly #boundPods: BoundPod[] = [];
  readonly #boundGroups = new Set<SharedGroup>();
  readonly #seen = new Set<string>();
  readonly #heldUntil: EpochMs[] = [];
  #changesAt = Number.POSITIVE_INFINITY;

  constructor(snapshot: FleetSnapshot, cache: PodFactsCache, market: Market) {
    this.#snapshot = snapshot;
    this.#cache = cache;
    this.#market = market;
    this.#nodePools = new Map(snapshot.nodePools.map((pool) => [pool.metadata.name ?? '', pool]));
    this.#budgets = new FleetBudgets(snapshot.disruptionBudgets);
    this.#daemons = snapshot.daemonSets.map((set) => ({
      requests: resources(podRequests(set.spec.template)),
      ports: hostPorts(set.spec.template.spec),
    }));
  }

  /** Adds a node and returns the work spent. A machine of unknown size is skipped. */
  add(state: StateNode): number {
    const known = allocatableOf(state);
    const allocatable = known === undefined ? plannedAllocatable(state, this.#market.planned) : listedResources(known);
    if (allocatable === undefined) return NODE_UNITS;
    const pods = this.#snapshot.podsOn(state.name);
    const room: Record<string, number> = { ...allocatable };
    const ports: HostPort[] = [];
    const moving: MovingPod[] = [];
    const staying: Pod[] = [];
    let blockedBy: BlockingPod | undefined;
    let units = NODE_UNITS;
    for (const pod of pods) {
      units += this.#cache.knows(pod) ? POD_UNITS : NEW_POD_UNITS;
      const facts = this.#cache.of(pod, this.#snapshot);
      if (facts.moves) {
        // Caches change during the build. If a pod was recreated under the same name, its first appearance counts.
        if (!this.#seen.has(facts.name)) moving.push({ pod, facts });
        this.#seen.add(facts.name);
        continue;
      }
      staying.push(pod);
      take(room, knownRequests(pod).resources);
      ports.push(...hostPorts(pod.spec));
      this.#addBound(pod, facts, state.name);
      blockedBy ??= this.#blocking(pod, facts);
    }
    // DaemonSet pods that are not there yet have their room reserved.
    const coming = daemonsToCome(state, staying, this.#snapshot.daemonSets).map(({ number }) => number);
    for (const number of coming) {
      const { requests, ports: taken } = this.#daemons[number] as DaemonNeeds;
      take(room, requests);
      ports.push(...taken);
    }
    this.#addNode(state, { allocatable: room, ports, coming, empty: moving.length === 0, blockedBy });
    for (const { pod, facts } of moving) this.#addPod(pod, facts, state.name);
    return units;
  }

  built(): BuiltFleet {
    const { nodePools, namespaces, daemonSets, allowed } = this.#snapshot;
    const { pools, names } = this.#market;
    this.#cache.tidy(new Set([...this.#groupNumber.keys(), ...this.#boundGroups]));
    const fleet: Fleet = {
      nodes: this.#nodes,
      groups: this.#groups,
      pods: this.#fleetPods,
      boundPods: this.#boundPods,
      disruptionBudgets: this.#budgets.all,
      poolDisruption: nodePools.map((nodePool) => {
        const pool = nodePool.metadata.name ?? '';
        const policy = nodePool.spec.disruption.consolidationPolicy;
        return { pool, policy, ...(allowed === undefined ? {} : { allowed: allowed(pool) }) };
      }),
      pools,
      instanceTypes: names.all(),
      daemons: daemonSets.map(daemonGroup),
      namespaces: Object.fromEntries(namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}])),
    };
    return {
      fleet,
      states: this.#states,
      pods: this.#pods,
      cloudName: (instanceType) => names.cloudName(instanceType),
      heldUntil: this.#heldUntil,
      ...(Number.isFinite(this.#changesAt) ? { changesAt: this.#changesAt as EpochMs } : {}),
    };
  }

  /** Why a pod that would not be rescheduled blocks the removal of its node: draining evicts it too, and that is not allowed now. */
  #blocking(pod: Pod, facts: PodFacts): BlockingPod | undefined {
    if (pod.metadata.deletionTimestamp !== undefined || !facts.evictable) return undefined;
    if (this.#isProtected(pod, facts)) return { pod: facts.name, budgets: [] };
    const budgets = this.#budgets.of(pod, facts.group).map((number) => this.#budgets.all[number]);
    const refused = budgets.length > 1 || budgets.some((budget) => budget?.allowed === 0);
    return refused ? { pod: facts.name, budgets: budgets.map((budget) => budget?.name ?? '') } : undefined;
  }

  #isProtected(pod: Pod, { evictable, protectedUntil = Number.NEGATIVE_INFINITY }: PodFacts): boolean {
    if (!evictable) return false;
    const until = Math.max(protectedUntil, this.#groupProtectedUntil(pod));
    if (until <= this.#snapshot.now) return false;
    this.#changesAt = Math.min(this.#changesAt, until);
    return true;
  }

  /** Evicting one pod of a group restarts the whole group, so the protection of one pod protects all. */
  #groupProtectedUntil(pod: Pod): number {
    const { podNamed } = this.#snapshot;
    if (podNamed === undefined || groupName(pod) === undefined) return Number.NEGATIVE_INFINITY;
    return Math.max(...groupPods(pod, podNamed).map((each) => doNotDisruptUntil(each) ?? Number.NEGATIVE_INFINITY));
  }

  #addNode(state: StateNode, { allocatable, ports, coming, empty, blockedBy }: Contents): void {
    const { now, reservationOf = () => undefined, isNominated, cooldownMs = DEFAULT_COOLDOWN_MS } = this.#snapshot;
    // A node without a claim cannot be removed, whatever its labels say.
    const pool = state.claim === undefined ? undefined : poolOf(state);
    const labels = labelsOf(state);
    const cloudType = labels[LABEL_INSTANCE_TYPE] ?? '';
    const sold = this.#market.types.get(pool ?? '')?.get(cloudType);
    const running = runningAs(labels, reservationOf);
    const nominated = isNominated?.(state) ?? false;
    const nodePool = this.#nodePools.get(pool ?? '');
    const byPolicy = this.#snapshot.policyHold?.(state);
    const podEventAt = this.#snapshot.podEventAt?.(state.name);
    const circumstances = { now, pool: nodePool, nominated, ...(podEventAt === undefined ? {} : { podEventAt }) };
    const held = nodeHold(state, circumstances) ?? (byPolicy && { hold: 'spot-policy', ...byPolicy });
    const settled = settledAt(state, cooldownMs) ?? now;
    const settling = settled > now;
    if (held?.until !== undefined) this.#heldUntil.push(held.until);
    this.#changesAt = Math.min(this.#changesAt, held?.until ?? (settling ? settled : Number.POSITIVE_INFINITY));
    // An empty node that only waits for consolidateAfter will be removed at no cost. Pods moved to it would prevent that.
    const soonGone = empty && held?.hold === 'consolidate-after' && held.until !== undefined;
    const closed = nominated || soonGone || held?.hold === 'leaving' || held?.hold === 'not-ready';
    // The hold ends before a node launched now could be replaced itself.
    const briefly = held?.hold === 'nominated' || (held?.until !== undefined && held.until <= now + cooldownMs);
    const limits = sold?.type.volumeAttachLimits;
    this.#states.set(state.name, state);
    this.#nodes.push({
      name: state.name,
      ...(pool === undefined ? {} : { pool }),
      labels,
      taints: taintsOf(state),
      ...running,
      instanceType: sold?.name ?? cloudType,
      // Removing a node without a pool saves nothing.
      price: pool === undefined ? 0 : nodePrice(running, sold?.type, state.claim),
      allocatable,
      ...(limits === undefined ? {} : { volumeAttachLimits: limits }),
      ...(ports.length === 0 ? {} : { usedHostPorts: ports }),
      ...(coming.length === 0 ? {} : { daemonsToCome: coming }),
      ...(held === undefined ? {} : { hold: held.hold }),
      ...(briefly ? { heldBriefly: true } : {}),
      ...(blockedBy === undefined ? {} : { blockedBy }),
      ...(settling ? { settling } : {}),
      ...(closed ? { closed } : {}),
    });
  }

  /** A pod that would not be rescheduled still matters for the affinity and anti-affinity of other pods. */
  #addBound({ metadata }: Pod, { group: shared }: PodFacts, node: string): void {
    const { namespace, labels = {}, podAntiAffinity } = shared.group;
    this.#boundGroups.add(shared);
    this.#boundPods.push({
      ...{ node, namespace, labels },
      ...(podAntiAffinity === undefined ? {} : { podAntiAffinity }),
      ...(metadata.deletionTimestamp === undefined ? {} : { ending: true }),
    });
  }

  #addPod(pod: Pod, facts: PodFacts, node: string): void {
    const { group, evictionCost, evictable, steerable, stuck } = facts;
    let number = this.#groupNumber.get(group);
    if (number === undefined) {
      number = this.#groups.length;
      this.#groupNumber.set(group, number);
      this.#groups.push(group.group);
    }
    const isProtected = this.#isProtected(pod, facts);
    const budgets = evictable ? this.#budgets.of(pod, group) : [];
    this.#pods.push(pod);
    this.#fleetPods.push({
      name: facts.name,
      group: number,
      node,
      evictionCost,
      ...(steerable ? { steerable } : {}),
      ...(isProtected ? { doNotDisrupt: true } : {}),
      ...(stuck === undefined ? {} : { stuck }),
      ...(budgets.length === 0 ? {} : { disruptionBudgets: budgets }),
    });
  }
}
