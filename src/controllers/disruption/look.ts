/** A snapshot of the cluster for the disruption methods: nodes, budgets, pools, and what keeps nodes from disruption. */
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
import { isEvictionBlocked } from '../provisioning/eviction-blocked.ts';
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
  /** The claim with what this process has written on it since, such as a requested reboot. */
  newest(claim: NodeClaim): NodeClaim;
  /** The mark of a claim that a command takes, also one that the cache does not show yet. */
  markOf(claim: NodeClaim): string | undefined;
  isNominated(state: StateNode): boolean;
  /** Room that is reserved for pods on nodes. */
  readonly kept: KeptPlaces & { readonly successors: Pick<Successors, 'awaitedBy'> };
  /** Whether a recent attempt to mark or delete the claim failed. */
  isStuck(claim: NodeClaim): boolean;
  /** The PodDisruptionBudgets that select a pod. */
  budgetsOf(pod: Pod): readonly PodDisruptionBudget[];
  /** Reads the pools with the instance types that their clouds offer. */
  readPools(signal: AbortSignal): Promise<PoolsByUse>;
  /** Receives why a node that is due for disruption may not be disrupted. */
  refuse(refusal: Refusal): void;
  /** Receives why no node of a pool may be disrupted. */
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
  /** Names of claims that must be up before commands in progress delete anything. */
  readonly needed: ReadonlySet<string>;
  /** The nodes that budgets count. */
  readonly counting: readonly StateNode[];
}

/** The work of one node, in units of the engine of a few hundred nanoseconds. */
const UNITS = 10;

export class Look implements CandidateContext {
  readonly now: EpochMs;
  /** All nodes. Those that commands in progress remove are marked as going. */
  readonly nodes: readonly StateNode[];
  readonly poolNamed: ReadonlyMap<string, NodePool>;
  readonly budgets: Budgets;
  readonly #options: LookOptions;
  readonly #begun: number;
  readonly #byName: ReadonlyMap<string, StateNode>;
  readonly #byClaim: ReadonlyMap<string, StateNode>;
  /** Names of claims that must be up before commands in progress delete anything. */
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

  /** Takes the snapshot, in slices; nodes that are created meanwhile are not in it. */
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
      const claim = state.claim && cachedNow(state.claim, options.state);
      const shown = claim === undefined ? state : withReboot(state, options.newest(claim));
      const text = claim && options.markOf(claim);
      const node = text === undefined ? shown : going(shown, text);
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

  /** Whether commands have begun since: they may use the same nodes or the same room. */
  get isOutdated(): boolean {
    return this.#options.begun() !== this.#begun;
  }

  /** Takes a new look with the same options. */
  again(now: EpochMs): Slices<Look> {
    return Look.take({ ...this.#options, now });
  }

  podsOn(node: string) {
    return this.#options.state.podsOn(node);
  }

  /** The pod of that name. */
  podNamed(key: { readonly namespace: string; readonly name: string }): Pod | undefined {
    return this.#options.state.informers.pods.get(key);
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
   * Whether the node must stay for now: pods are about to be scheduled to it, a command in progress needs it, or it could not be marked a
   * while ago.
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

  /** The node as a candidate. If it may not be disrupted, reports why and returns undefined. */
  candidate(state: StateNode, disruption: DisruptionClass): Candidate | undefined {
    const found = candidateOf(state, disruption, this);
    if (found === undefined || !('why' in found)) return found;
    this.refuse(found);
    return undefined;
  }

  /** Reports why a node that is due for disruption may not be disrupted. */
  refuse(refusal: Refusal): void {
    this.#options.refuse(refusal);
  }

  /** Reports why no node of a pool may be disrupted. */
  refusePool(pool: NodePool, why: string): void {
    this.#options.refusePool(pool, why);
  }

  /** The pools that can launch nodes for pods; the clouds are asked once per look. */
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

  /** The input of a problem without the candidates' nodes, in which nothing is placed on `closed` nodes. */
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
    // Everything is read at once, because pods change while the problem is built. Reserved room is not given to the candidates' pods.
    // These must be the same objects as in the candidates: placements are matched to candidates by identity.
    const staying = this.nodes.filter(({ name }) => !leave.has(name));
    const { pending, displaced, podsOn } = placelessPods(state, staying, kept, (pod, node) =>
      isEvictionBlocked(pod, node, (counted) => this.#options.budgetsOf(counted), this.now),
    );
    const pods = new Map(staying.map(({ name }) => [name, podsOn(name)]));
    for (const candidate of candidates) {
      const others = state.podsOn(candidate.state.name).filter((pod) => !isReschedulable(pod));
      pods.set(candidate.state.name, [...candidate.pods, ...others]);
    }
    return {
      pending,
      displaced: [...displaced, ...candidates.flatMap((candidate) => candidate.pods)],
      nodes: this.#withGoing(candidates),
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

  /** The input of a problem that asks for one replacement per candidate of a static pool. */
  replacements(usable: UsablePool, candidates: readonly Candidate[]): ClusterSnapshot {
    const nodes = this.#withGoing(candidates);
    return replicaSnapshot(usable, candidates.length, { state: this.#options.state, nodes });
  }

  /** All nodes, with those of the candidates marked as going. */
  #withGoing(candidates: readonly Candidate[]): readonly StateNode[] {
    const leave = new Set(candidates.map(({ state }) => state.name));
    return this.nodes.map((node) => (leave.has(node.name) ? going(node, 'planned') : node));
  }

  /**
   * Whether a command in progress needs the node, but its pods are not known: an earlier process began the command, or the pods cannot be
   * bound by us. Its free room must not be used for other pods.
   */
  #isForgotten({ claim }: StateNode): boolean {
    const { name = '' } = claim?.metadata ?? {};
    return this.#needed.has(name) && !this.#options.kept.successors.awaitedBy(name);
  }
}

/** Counts a node and its replacement as one, so that a percentage budget does not grow with the replacements. */
function withoutReplacements(nodes: readonly StateNode[], marks: ReadonlyMap<StateNode, Mark>): StateNode[] {
  const underWay = new Set<string>();
  for (const [{ claim }, { id }] of marks) {
    if (claim !== undefined && !isTrue(claim, 'InstanceTerminating')) underWay.add(id);
  }
  return nodes.filter(({ claim }) => !underWay.has(claim?.metadata.annotations?.[ANNOTATION_REPLACES] ?? ''));
}

/** The claim as the cache shows it by now: a mark that was being written when the look began may have arrived. */
function cachedNow(claim: NodeClaim, { informers }: ClusterState): NodeClaim {
  const cached = informers.nodeClaims.get(claim.metadata.name ?? '');
  return cached !== undefined && cached.metadata.uid === claim.metadata.uid ? cached : claim;
}

/**
 * Shows a requested reboot that the cache does not show yet. Everything else stays as the snapshot has it: nodes and claims of one moment
 * belong together.
 */
function withReboot(state: StateNode, newest: NodeClaim): StateNode {
  const isNew = isTrue(newest, 'Rebooting') && state.claim !== undefined && !isTrue(state.claim, 'Rebooting');
  return isNew ? { ...state, claim: newest } : state;
}

function going(state: StateNode, mark: string): StateNode {
  const { claim } = state;
  if (claim === undefined || claim.metadata.annotations?.[ANNOTATION_DISRUPTION] !== undefined) return state;
  const annotations = { ...claim.metadata.annotations, [ANNOTATION_DISRUPTION]: mark };
  return { ...state, claim: { ...claim, metadata: { ...claim.metadata, annotations } } };
}
