/**
 * From the cluster as it is to the question that consolidation is asked. Pure, and in slices, because a large cluster takes
 * longer than anybody should wait. What is told of a pod is remembered with the pod.
 *
 * Room that is promised to pods that are not there yet is not given away: a node that pods are expected on is left as it is,
 * and nothing is moved to it. A node that is not up, not ready, or on its way out receives nothing either.
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

/** The cluster at one moment, as consolidation has to know it. */
export interface FleetSnapshot extends Omit<ClusterSnapshot, 'pending' | 'displaced'> {
  readonly now: EpochMs;
  /** Every pool, also those that can make no nodes now. */
  readonly nodePools: readonly NodePool[];
  readonly disruptionBudgets: readonly PodDisruptionBudget[];
  /** The label that names the reservation of a node. */
  readonly reservationOf?: (labels: Labels) => string | undefined;
  /** Whether pods that are not there yet are expected on a node. */
  isNominated?(state: StateNode): boolean;
  /** When a pod last came to a node or left it, where its claim does not tell of that yet. */
  podEventAt?(node: string): EpochMs | undefined;
  /** How many nodes of a pool may go now, by reason; absent means any number. */
  allowed?(pool: string): Readonly<Partial<Record<DisruptionReason, number>>>;
  /** Whether a pool can be asked for nodes now; default every one. */
  launches?(pool: string): boolean;
  /** How long a node that took the place of others is left in peace. */
  readonly cooldownMs?: number;
  /** Whether a policy has a node left as it is for now, and until when. */
  policyHold?(state: StateNode): PolicyHold | undefined;
}

/** Why a policy has a node left as it is. */
export interface PolicyHold extends Omit<NodeHold, 'hold'> {
  /** For people. */
  readonly because: string;
}

/** The question, and what its names and numbers stand for. */
export interface BuiltFleet {
  readonly fleet: Fleet;
  /** The nodes of the fleet, by name. */
  readonly states: ReadonlyMap<string, StateNode>;
  /** The pods of the fleet, by number. */
  readonly pods: readonly Pod[];
  /** What the cloud calls an instance type of the fleet. */
  cloudName(instanceType: string): string;
  /** When time alone changes the question: a hold or the protection of a pod ends. */
  readonly changesAt?: EpochMs;
  /** When nodes that only have to wait for it may be looked at. */
  readonly heldUntil: readonly EpochMs[];
}

/** Long enough for pods to come and go; whether moves keep what they promise is learnt beside that. */
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

/** The pools, and what they sell under which names. */
interface Market {
  readonly pools: Fleet['pools'];
  readonly names: TypeNames;
  readonly planned: PlannedTypes;
  /** By pool and by the name that the cloud has for it. */
  readonly types: ReadonlyMap<string, ReadonlyMap<string, SoldType>>;
}

/** An instance type of the market. */
interface SoldType {
  /** What it is called in the fleet. */
  readonly name: string;
  /** With the prices that are paid: risk is in those of what is still to be bought. */
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
    // A pool that can make no nodes now may still lose some.
    return enginePool(pool, launches?.(name) === false ? [] : called, usage);
  });
  // The engine has nothing to say about pools where nobody sells anything.
  return { pools: names.all().length === 0 ? [] : engine, names, planned, types };
}

/** A unit of the engine's work is a few hundred nanoseconds; these are what a node and a pod take here. */
const NODE_UNITS = 60;
const POD_UNITS = 10;
const NEW_POD_UNITS = 60;

/** A pod that would need another place. */
interface MovingPod {
  readonly pod: Pod;
  readonly facts: PodFacts;
}

/** What is on a node beside the pods that move. */
interface Contents {
  /** What is left for those that move. */
  readonly allocatable: Resources;
  readonly ports: readonly HostPort[];
  /** Numbers of daemons that are still to come. */
  readonly coming: readonly number[];
  /** Nothing on it moves. */
  readonly empty: boolean;
  readonly blockedBy: BlockingPod | undefined;
}

/** What the pod of a DaemonSet takes of its node. */
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

  /** Takes a node in, and gives the work that it was. Nothing is known of a machine whose size nobody knows. */
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
        // The caches go on while this is built: a pod that was made anew under its name is taken where it was seen first.
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
    // Daemons that are still to come take their room already.
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

  /** Why a pod that stays on its node keeps it: a node that goes asks it to leave, too, and it may not be asked now. */
  #blocking(pod: Pod, facts: PodFacts): BlockingPod | undefined {
    if (pod.metadata.deletionTimestamp !== undefined || !facts.evictable) return undefined;
    if (this.#isProtected(facts)) return { pod: facts.name, budgets: [] };
    const budgets = this.#budgets.of(pod, facts.group).map((number) => this.#budgets.all[number]);
    const refused = budgets.length > 1 || budgets.some((budget) => budget?.allowed === 0);
    return refused ? { pod: facts.name, budgets: budgets.map((budget) => budget?.name ?? '') } : undefined;
  }

  #isProtected({ evictable, protectedUntil }: PodFacts): boolean {
    if (!evictable || protectedUntil === undefined || protectedUntil <= this.#snapshot.now) return false;
    this.#changesAt = Math.min(this.#changesAt, protectedUntil);
    return true;
  }

  #addNode(state: StateNode, { allocatable, ports, coming, empty, blockedBy }: Contents): void {
    const { now, reservationOf = () => undefined, isNominated, cooldownMs = DEFAULT_COOLDOWN_MS } = this.#snapshot;
    // Without a claim nothing can be asked to go, whatever its labels say.
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
    // An empty node that has only to wait for its time goes for nothing then: pods moved to it would keep it.
    const soonGone = empty && held?.hold === 'consolidate-after' && held.until !== undefined;
    const closed = nominated || soonGone || held?.hold === 'leaving' || held?.hold === 'not-ready';
    const limits = sold?.type.volumeAttachLimits;
    this.#states.set(state.name, state);
    this.#nodes.push({
      name: state.name,
      ...(pool === undefined ? {} : { pool }),
      labels,
      taints: taintsOf(state),
      ...running,
      instanceType: sold?.name ?? cloudType,
      // What is not ours saves nobody anything.
      price: pool === undefined ? 0 : nodePrice(running, sold?.type, state.claim),
      allocatable,
      ...(limits === undefined ? {} : { volumeAttachLimits: limits }),
      ...(ports.length === 0 ? {} : { usedHostPorts: ports }),
      ...(coming.length === 0 ? {} : { daemonsToCome: coming }),
      ...(held === undefined ? {} : { hold: held.hold }),
      ...(blockedBy === undefined ? {} : { blockedBy }),
      ...(settling ? { settling } : {}),
      ...(closed ? { closed } : {}),
    });
  }

  /** A pod that stays on its node until that is gone: others may have to be with it, or away from it. */
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
    const isProtected = this.#isProtected(facts);
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
