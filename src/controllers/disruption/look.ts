/** The cluster at one moment, as methods of disruption look at it. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { ANNOTATION_DISRUPTION } from '../../apis/spindrift/annotations.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { ClusterSnapshot } from '../../state/build-problem.ts';
import { type ClusterState, isReschedulable } from '../../state/cluster-state.ts';
import { isGoing, type StateNode } from '../../state/state-node.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { Budgets } from './budgets/budgets.ts';
import { type Candidate, type CandidateContext, candidateOf, type DisruptionClass, type Refusal } from './candidate.ts';
import { PodBlockers } from './pod-blockers.ts';

export interface LookOptions {
  readonly state: ClusterState;
  readonly now: EpochMs;
  /** The mark of a claim that a command takes, also one that the cache does not show yet. */
  markOf(claim: NodeClaim): string | undefined;
  isNominated(state: StateNode): boolean;
  /** Asks the clouds what they sell. */
  readPools(signal: AbortSignal): Promise<readonly UsablePool[]>;
  /** Hears why a node that would go has to stay. */
  refuse(refusal: Refusal): void;
  /** Hears why no node of a pool goes. */
  refusePool(pool: NodePool, why: string): void;
  newId(): string;
}

export class Look implements CandidateContext {
  readonly now: EpochMs;
  /** All nodes; what commands take is going. */
  readonly nodes: readonly StateNode[];
  readonly poolNamed: ReadonlyMap<string, NodePool>;
  readonly budgets: Budgets;
  readonly #options: LookOptions;
  readonly #blockers: PodBlockers;
  #pools: Promise<readonly UsablePool[]> | undefined;

  constructor(options: LookOptions) {
    const { state, now, markOf } = options;
    const { nodePools, disruptionBudgets } = state.informers;
    this.#options = options;
    this.now = now;
    this.nodes = state.nodes().map((node) => {
      const mark = node.claim && markOf(node.claim);
      return mark === undefined ? node : going(node, mark);
    });
    const pools = nodePools.list();
    this.poolNamed = new Map(pools.map((pool) => [pool.metadata.name ?? '', pool]));
    this.budgets = new Budgets({ pools, nodes: this.nodes, now });
    this.#blockers = new PodBlockers(disruptionBudgets.list(), now);
  }

  podsOn(node: string) {
    return this.#options.state.podsOn(node);
  }

  isNominated(state: StateNode): boolean {
    return this.#options.isNominated(state);
  }

  podBlocker(pod: Parameters<PodBlockers['of']>[0]): string | undefined {
    return this.#blockers.of(pod);
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

  /** The pools that can make nodes; the clouds are asked once a look. */
  pools(signal: AbortSignal): Promise<readonly UsablePool[]> {
    this.#pools ??= this.#options.readPools(signal);
    return this.#pools;
  }

  /** What a problem is built from: those that go, and `closed` ones that nothing is to be put on. */
  snapshot(
    pools: readonly UsablePool[],
    candidates: readonly Candidate[] = [],
    closed: readonly StateNode[] = [],
  ): ClusterSnapshot {
    const { state } = this.#options;
    const leave = new Set(candidates.map((candidate) => candidate.state.name));
    const shut = new Set(closed.map(({ name }) => name));
    const nodes = this.nodes.map((node) => {
      if (leave.has(node.name)) return going(node, 'planned');
      return shut.has(node.name) ? cordoned(node) : node;
    });
    const { daemonSets, namespaces } = state.informers;
    return {
      pending: state.provisionable(),
      displaced: nodes.flatMap((node) => (isGoing(node) ? state.podsOn(node.name).filter(isReschedulable) : [])),
      nodes,
      podsOn: (node) => state.podsOn(node),
      daemonSets: daemonSets.list(),
      pools,
      namespaces: namespaces.list(),
      storage: state.storage,
    };
  }
}

function going(state: StateNode, mark: string): StateNode {
  const { claim } = state;
  if (claim === undefined || claim.metadata.annotations?.[ANNOTATION_DISRUPTION] !== undefined) return state;
  const annotations = { ...claim.metadata.annotations, [ANNOTATION_DISRUPTION]: mark };
  return { ...state, claim: { ...claim, metadata: { ...claim.metadata, annotations } } };
}

function cordoned(state: StateNode): StateNode {
  const { node } = state;
  return node === undefined ? state : { ...state, node: { ...node, spec: { ...node.spec, unschedulable: true } } };
}
