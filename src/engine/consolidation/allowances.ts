/** Decides which nodes may be disrupted: holds, policies, pods that must not move, and the remaining budgets of pools and pods. */
import type { Slices, Work } from '../packing/work.ts';
import type { CompiledFleet } from './compiled-fleet.ts';
import { reasonFor } from './disruption-reason.ts';
import type {
  BlockingPod,
  ConsolidationOptions,
  DisruptionReason,
  FleetNode,
  FleetPod,
  PoolDisruption,
} from './fleet.ts';
import type { KeptCause } from './plan.ts';
import { firstRefused, PoolBudgets } from './pool-budgets.ts';

/** Tells which nodes may be removed, and counts the budgets used. */
export class Allowances {
  readonly #compiled: CompiledFleet;
  readonly #homePods: number[][];
  readonly #pools: ReadonlyMap<string, PoolDisruption>;
  readonly #blocked: (KeptCause | undefined)[] = [];
  readonly #cost: Float64Array;
  readonly #podBudgets: Float64Array;
  readonly #poolBudgets: PoolBudgets;
  /** PodDisruptionBudgets that were already charged. */
  readonly #touched = new Set<number>();
  readonly #inTurns: boolean;

  constructor(compiled: CompiledFleet, { evictInTurns = false }: Pick<ConsolidationOptions, 'evictInTurns'>) {
    this.#compiled = compiled;
    this.#inTurns = evictInTurns;
    const { fleet } = compiled;
    this.#homePods = fleet.nodes.map(() => []);
    this.#cost = new Float64Array(fleet.nodes.length).fill(1);
    this.#pools = new Map(fleet.poolDisruption.map((entry) => [entry.pool, entry]));
    this.#podBudgets = Float64Array.from(fleet.disruptionBudgets ?? [], ({ allowed }) => allowed);
    this.#poolBudgets = new PoolBudgets(fleet.poolDisruption);
  }

  /** Reads every pod; must run before any query. */
  *load(work: Work): Slices<void> {
    const { fleet, podHome, evictionCost } = this.#compiled;
    for (let pod = 0; pod < podHome.length; pod++) {
      const node = podHome[pod] as number;
      this.#homePods[node]?.push(pod);
      this.#cost[node] = (this.#cost[node] as number) + (evictionCost[pod] as number);
      if (work.spend(1)) yield;
    }
    for (let node = 0; node < fleet.nodes.length; node++) {
      this.#blocked.push(this.#block(node));
      if (work.spend(2 + this.homePods(node).length)) yield;
    }
  }

  /** Why a node cannot be removed now, regardless of the plan. */
  blocked(node: number): KeptCause | undefined {
    return this.#blocked[node];
  }

  /** Pods that are evicted when this node of the fleet is removed. */
  homePods(node: number): readonly number[] {
    return this.#homePods[node] as number[];
  }

  reasonFor(node: number): DisruptionReason {
    return reasonFor(this.homePods(node).length);
  }

  policyOf(node: number): PoolDisruption['policy'] {
    return this.#pools.get(this.#node(node).pool ?? '')?.policy ?? 'WhenEmptyOrUnderutilized';
  }

  /** 1 for the node, and the eviction cost of each of its pods. */
  disruptionCost(node: number): number {
    return this.#cost[node] as number;
  }

  /** The budget that forbids removing these nodes together, after all that was taken before. */
  refusal(nodes: readonly number[]): KeptCause | undefined {
    const refused = this.poolRefusal(nodes, this.#poolBudgets);
    if (refused !== undefined) return refused;
    const podNeeds = new Map<number, { pods: number; nodes: Set<number> }>();
    for (const node of nodes) {
      for (const pod of this.homePods(node)) {
        for (const budget of this.#pod(pod).disruptionBudgets ?? []) {
          const needs = podNeeds.get(budget) ?? { pods: 0, nodes: new Set() };
          podNeeds.set(budget, needs);
          needs.pods++;
          needs.nodes.add(node);
          if (!this.#suffices(budget, needs.pods, needs.nodes.size)) return this.#budgetCause(budget, pod);
        }
      }
    }
    return undefined;
  }

  /** The pool budget that forbids removing these nodes together. */
  poolRefusal(nodes: readonly number[], budgets: PoolBudgets): KeptCause | undefined {
    const departures = nodes.map((node) => ({ pool: this.#node(node).pool ?? '', reason: this.reasonFor(node) }));
    const refused = firstRefused(departures, budgets);
    return refused && { kind: 'pool-budget', ...refused, allowed: budgets.allowed(refused.pool, refused.reason) };
  }

  /** Charges the budgets for removing these nodes; `refusal` must have allowed it. */
  take(nodes: readonly number[]): void {
    for (const node of nodes) {
      this.#poolBudgets.take(this.#node(node).pool ?? '');
      for (const pod of this.homePods(node)) {
        for (const budget of this.#pod(pod).disruptionBudgets ?? []) {
          this.#podBudgets[budget] = (this.#podBudgets[budget] as number) - 1;
          this.#touched.add(budget);
        }
      }
    }
  }

  /**
   * Whether a budget allows this many evictions. With `evictInTurns`, any number is allowed if the budget allows one and
   * only this node needs it.
   */
  #suffices(budget: number, pods: number, nodes: number): boolean {
    const left = this.#podBudgets[budget] as number;
    return left >= pods || (this.#inTurns && left > 0 && nodes === 1 && !this.#touched.has(budget));
  }

  #block(node: number): KeptCause | undefined {
    const { hold, pool, blockedBy } = this.#node(node);
    if (hold !== undefined) return { kind: 'hold', hold };
    if (pool === undefined || (this.#compiled.nodePool[node] as number) < 0) return { kind: 'no-pool' };
    const disruption = this.#pools.get(pool);
    if (disruption === undefined) return { kind: 'policy', pool, policy: 'none' };
    const pods = this.homePods(node);
    if (pods.length > 0 && disruption.policy === 'WhenEmpty') return { kind: 'policy', pool, policy: 'WhenEmpty' };
    for (const number of pods) {
      const pod = this.#pod(number);
      if (pod.doNotDisrupt === true) return { kind: 'pod', pod: pod.name };
      if (pod.stuck !== undefined) return { kind: 'pod', pod: pod.name, stuck: pod.stuck };
      if ((pod.disruptionBudgets ?? []).length > 1) return { kind: 'several-disruption-budgets', pod: pod.name };
    }
    return (blockedBy && blockedCause(blockedBy)) ?? this.refusal([node]);
  }

  #budgetCause(budget: number, pod: number): KeptCause {
    const { name, allowed } = this.#compiled.fleet.disruptionBudgets?.[budget] ?? { name: '', allowed: 0 };
    return { kind: 'disruption-budget', budget: name, pod: this.#pod(pod).name, allowed };
  }

  #node(node: number): FleetNode {
    return this.#compiled.fleet.nodes[node] as FleetNode;
  }

  #pod(pod: number): FleetPod {
    return this.#compiled.fleet.pods[pod] as FleetPod;
  }
}

function blockedCause({ pod, budgets }: BlockingPod): KeptCause {
  const [budget, ...others] = budgets;
  if (budget === undefined) return { kind: 'pod', pod };
  if (others.length > 0) return { kind: 'several-disruption-budgets', pod };
  return { kind: 'disruption-budget', budget, pod, allowed: 0 };
}
