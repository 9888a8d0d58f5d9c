/** The cluster at one moment, as methods of disruption look at it. */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_REPLACES } from '../../apis/spindrift/annotations.ts';
import { type Slices, UNLIMITED, Work } from '../../engine/packing/work.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { ClusterSnapshot } from '../../state/build-problem.ts';
import { type ClusterState, isReschedulable } from '../../state/cluster-state.ts';
import type { StateNode } from '../../state/state-node.ts';
import type { Successors } from '../../state/successors.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { isHeld } from '../provisioning/held-pods.ts';
import { type KeptPlaces, placelessPods } from '../provisioning/placeless-pods.ts';
import { replicaSnapshot } from '../static-pool/replica-snapshot.ts';
import type { PoolsByUse } from '../usable-pools.ts';
import { Budgets } from './budgets/budgets.ts';
import { type Candidate, type CandidateContext, candidateOf, type DisruptionClass, type Refusal } from './candidate.ts';
import { type Mark, readMark } from './commands/mark.ts';
import { podBlocker } from './pod-blocker.ts';

export interface LookOptions {
  readonly state: ClusterState;
  readonly now: EpochMs;
  /** The mark of a claim that a command takes, also one that the cache does not show yet. */
  markOf(claim: NodeClaim): string | undefined;
  isNominated(state: StateNode): boolean;
  /** Who is to come to nodes on their way. */
  readonly kept: KeptPlaces & { readonly successors: Pick<Successors, 'awaitedBy'> };
  /** Whether a claim could not be marked a while ago. */
  isStuck(claim: NodeClaim): boolean;
  /** The PodDisruptionBudgets that count a pod. */
  budgetsOf(pod: Pod): readonly PodDisruptionBudget[];
  /** Asks the clouds what they sell. */
  readPools(signal: AbortSignal): Promise<PoolsByUse>;
  /** Hears why a node that would go has to stay. */
  refuse(refusal: Refusal): void;
  /** Hears why no node of a pool goes. */
  refusePool(pool: NodePool, why: string): void;
  newId(): string;
  /** How many commands have begun so far. */
  begun(): number;
}

/** The nodes of a look. */
interface LookedAt {
  readonly all: readonly StateNode[];
  readonly byName: ReadonlyMap<string, StateNode>;
  /** By the name of the claim. */
  readonly byClaim: ReadonlyMap<string, StateNode>;
  /** Names of claims that commands under way need. */
  readonly needed: ReadonlySet<string>;
  /** Those that budgets count. */
  readonly counting: readonly StateNode[];
}

/** A unit of the engine's work is a few hundred nanoseconds; this is what a node takes here. */
const UNITS = 10;

export class Look implements CandidateContext {
  readonly now: EpochMs;
  /** All nodes; what commands take is going. */
  readonly nodes: readonly StateNode[];
  readonly poolNamed: ReadonlyMap<string, NodePool>;
  readonly budgets: Budgets;
  readonly #options: LookOptions;
  readonly #begun: number;
  readonly #byName: ReadonlyMap<string, StateNode>;
  readonly #byClaim: ReadonlyMap<string, StateNode>;
  /** Names of claims that commands under way need. */
  readonly #needed: ReadonlySet<string>;
  #pools: Promise<PoolsByUse> | undefined;

  private constructor(options: LookOptions, begun: number, nodes: LookedAt) {
    this.#options = options;
    this.#begun = begun;
    this.now = options.now;
    this.nodes = nodes.all;
    this.#byName = nodes.byName;
    this.#byClaim = nodes.byClaim;
    this.#needed = nodes.needed;
    const pools = options.state.informers.nodePools.list();
    this.poolNamed = new Map(pools.map((pool) => [pool.metadata.name ?? '', pool]));
    this.budgets = new Budgets({ pools, nodes: nodes.counting, now: options.now });
  }

  /** Takes a look: at what there is when it begins, in slices. */
  static *take(options: LookOptions): Slices<Look> {
    const begun = options.begun();
    const work = new Work(UNLIMITED);
    const found = options.state.nodes();
    yield;
    const all: StateNode[] = [];
    const byName = new Map<string, StateNode>();
    const byClaim = new Map<string, StateNode>();
    const marks = new Map<StateNode, Mark>();
    for (const state of found) {
      const text = state.claim && options.markOf(cachedNow(state.claim, options.state));
      const node = text === undefined ? state : going(state, text);
      const mark = readMark(node.claim?.metadata.annotations?.[ANNOTATION_DISRUPTION]);
      if (mark !== undefined) marks.set(node, mark);
      all.push(node);
      byName.set(node.name, node);
      if (node.claim !== undefined) byClaim.set(node.claim.metadata.name ?? '', node);
      if (work.spend(UNITS)) yield;
    }
    const needed = new Set([...marks.values()].flatMap(({ needs }) => needs.map(({ name }) => name)));
    const counting = withoutReplacements(all, marks);
    yield;
    return new Look(options, begun, { all, byName, byClaim, needed, counting });
  }

  /** Something has begun since that this look knows nothing of: another method may have taken the same nodes or places. */
  get isOutdated(): boolean {
    return this.#options.begun() !== this.#begun;
  }

  /** Takes another look, at the cluster as it is by then. */
  again(now: EpochMs): Slices<Look> {
    return Look.take({ ...this.#options, now });
  }

  podsOn(node: string) {
    return this.#options.state.podsOn(node);
  }

  /** The node of that name. */
  node(name: string): StateNode | undefined {
    return this.#byName.get(name);
  }

  /** The node of the claim of that name, also while the claim has none. */
  nodeOf(claim: string): StateNode | undefined {
    return this.#byClaim.get(claim);
  }

  /**
   * Whether the node is left as it is for now: pods are to come to it, something goes only because it is there, or it could not be
   * marked a while ago.
   */
  isNominated(state: StateNode): boolean {
    const { claim } = state;
    if (claim !== undefined && (this.#needed.has(claim.metadata.name ?? '') || this.isStuck(claim))) return true;
    return this.#options.isNominated(state);
  }

  isStuck(claim: NodeClaim): boolean {
    return this.#options.isStuck(claim);
  }

  podBlocker(pod: Pod): string | undefined {
    return podBlocker(pod, this.#options.budgetsOf(pod), this.now);
  }

  /** An identity for a command. */
  newId(): string {
    return this.#options.newId();
  }

  /** The node as a candidate; where it has to stay although it would go, that is said. */
  candidate(state: StateNode, disruption: DisruptionClass): Candidate | undefined {
    const found = candidateOf(state, disruption, this);
    if (found === undefined || !('why' in found)) return found;
    this.refuse(found);
    return undefined;
  }

  /** Says why a node that would go has to stay. */
  refuse(refusal: Refusal): void {
    this.#options.refuse(refusal);
  }

  /** Says why no node of a pool goes. */
  refusePool(pool: NodePool, why: string): void {
    this.#options.refusePool(pool, why);
  }

  /** The pools that can make nodes for pods; the clouds are asked once a look. */
  async pools(signal: AbortSignal): Promise<readonly UsablePool[]> {
    return (await this.#readPools(signal)).forPods;
  }

  /** The pools that keep a fixed number of nodes. */
  async staticPools(signal: AbortSignal): Promise<readonly UsablePool[]> {
    return (await this.#readPools(signal)).withReplicas;
  }

  #readPools(signal: AbortSignal): Promise<PoolsByUse> {
    this.#pools ??= this.#options.readPools(signal);
    return this.#pools;
  }

  /** What a problem is built from: those that go, and `closed` ones that nothing is to be put on. */
  snapshot(
    pools: readonly UsablePool[],
    candidates: readonly Candidate[] = [],
    closed: readonly StateNode[] = [],
  ): ClusterSnapshot {
    const { state, kept } = this.#options;
    const leave = new Set(candidates.map((candidate) => candidate.state.name));
    const forgotten = this.nodes.filter((node) => this.#isForgotten(node));
    const shut = new Set([...closed, ...forgotten].map(({ name }) => name));
    const { namespaces } = state.informers;
    // All of it is read in one moment: while a problem is built of it, pods come and go. What is kept for others is not given to those
    // that are to leave now; and these are the very pods that the candidates know, as they are told by that whose place is whose.
    const staying = this.nodes.filter(({ name }) => !leave.has(name));
    const { pending, displaced, podsOn } = placelessPods(state, staying, kept, (pod, node) =>
      isHeld(pod, node, (counted) => this.#options.budgetsOf(counted), this.now),
    );
    const pods = new Map(staying.map(({ name }) => [name, podsOn(name)]));
    for (const candidate of candidates) {
      const others = state.podsOn(candidate.state.name).filter((pod) => !isReschedulable(pod));
      pods.set(candidate.state.name, [...candidate.pods, ...others]);
    }
    const nodes = this.nodes.map((node) => (leave.has(node.name) ? going(node, 'planned') : node));
    return {
      pending,
      displaced: [...displaced, ...candidates.flatMap((candidate) => candidate.pods)],
      nodes,
      isClosed: ({ name }) => shut.has(name),
      missingFrom: (node) => state.room.missingFrom(node),
      podsOn: (node) => pods.get(node) ?? [],
      daemonSets: state.daemonSets(),
      pools,
      namespaces: namespaces.list(),
      storage: state.storage,
      models: state.models,
    };
  }

  /** What a problem is built from that asks for so many more nodes of a static pool. */
  replicas(usable: UsablePool, count: number): ClusterSnapshot {
    return replicaSnapshot(usable, count, { state: this.#options.state, nodes: this.nodes });
  }

  /**
   * A command under way needs the node, and nobody remembers which pods are to come to it: a former process began the command, or
   * they cannot be told to go there. However much room it seems to have, it is not for others.
   */
  #isForgotten({ claim }: StateNode): boolean {
    const { name = '' } = claim?.metadata ?? {};
    return this.#needed.has(name) && !this.#options.kept.successors.awaitedBy(name);
  }
}

/**
 * A node that takes the place of one that goes and the one that goes are one node of their pool, so that a percentage does not
 * grow with what it lets go.
 */
function withoutReplacements(nodes: readonly StateNode[], marks: ReadonlyMap<StateNode, Mark>): StateNode[] {
  const underWay = new Set<string>();
  for (const [{ claim }, { id }] of marks) {
    if (claim !== undefined && !isTrue(claim, 'InstanceTerminating')) underWay.add(id);
  }
  return nodes.filter(({ claim }) => !underWay.has(claim?.metadata.annotations?.[ANNOTATION_REPLACES] ?? ''));
}

/** A mark that was about to be written when the look began is in the cache by now, and nobody else remembers it. */
function cachedNow(claim: NodeClaim, { informers }: ClusterState): NodeClaim {
  const cached = informers.nodeClaims.get(claim.metadata.name ?? '');
  return cached !== undefined && cached.metadata.uid === claim.metadata.uid ? cached : claim;
}

function going(state: StateNode, mark: string): StateNode {
  const { claim } = state;
  if (claim === undefined || claim.metadata.annotations?.[ANNOTATION_DISRUPTION] !== undefined) return state;
  const annotations = { ...claim.metadata.annotations, [ANNOTATION_DISRUPTION]: mark };
  return { ...state, claim: { ...claim, metadata: { ...claim.metadata, annotations } } };
}
