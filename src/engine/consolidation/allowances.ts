/** What may be disrupted: holds, policies, pods that must not move, and the budgets of pools and pods as they are used up. */
import type { Slices, Work } from '../packing/work.ts';
import type { CompiledFleet } from './compiled-fleet.ts';
import type { DisruptionReason, FleetNode, FleetPod, PoolDisruption } from './fleet.ts';
import type { KeptCause } from './plan.ts';

/** Says which nodes may go, and keeps account. */
export class Allowances {
  readonly #compiled: CompiledFleet;
  readonly #homePods: number[][];
  readonly #pools: ReadonlyMap<string, PoolDisruption>;
  readonly #blocked: (KeptCause | undefined)[] = [];
  readonly #cost: Float64Array;
  readonly #podBudgets: Float64Array;
  readonly #poolBudgets = new Map<string, number>();

  constructor(compiled: CompiledFleet) {
    this.#compiled = compiled;
    const { fleet } = compiled;
    this.#homePods = fleet.nodes.map(() => []);
    this.#cost = new Float64Array(fleet.nodes.length).fill(1);
    this.#pools = new Map(fleet.poolDisruption.map((entry) => [entry.pool, entry]));
    this.#podBudgets = Float64Array.from(fleet.disruptionBudgets ?? [], ({ allowed }) => allowed);
    for (const { pool, allowed } of fleet.poolDisruption) {
      for (const reason of ['Empty', 'Underutilized'] as const) {
        this.#poolBudgets.set(`${pool}/${reason}`, allowed?.[reason] ?? Number.POSITIVE_INFINITY);
      }
    }
  }

  /** Looks at every pod; nothing can be asked before. */
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

  /** Why a node cannot go now, whatever else happens. */
  blocked(node: number): KeptCause | undefined {
    return this.#blocked[node];
  }

  /** Pods that are evicted when a node of the fleet goes. */
  homePods(node: number): readonly number[] {
    return this.#homePods[node] as number[];
  }

  reasonFor(node: number): DisruptionReason {
    return this.homePods(node).length === 0 ? 'Empty' : 'Underutilized';
  }

  policyOf(node: number): PoolDisruption['policy'] {
    return this.#pools.get(this.#node(node).pool ?? '')?.policy ?? 'WhenEmptyOrUnderutilized';
  }

  /** 1 for the node, and the eviction cost of each of its pods. */
  disruptionCost(node: number): number {
    return this.#cost[node] as number;
  }

  /** The budget that keeps these nodes of the fleet from going together, after all that was taken. */
  refusal(nodes: readonly number[]): KeptCause | undefined {
    const taken = this.take(nodes);
    const cause = taken ? undefined : this.#shortage(nodes);
    if (taken) this.#give(nodes, 1);
    return cause;
  }

  /** Takes what the end of these nodes uses up; false, and nothing is taken, when it is not there. */
  take(nodes: readonly number[]): boolean {
    this.#give(nodes, -1);
    if (this.#shortage(nodes, 0) === undefined) return true;
    this.#give(nodes, 1);
    return false;
  }

  #give(nodes: readonly number[], by: number): void {
    for (const node of nodes) {
      const key = `${this.#node(node).pool}/${this.reasonFor(node)}`;
      this.#poolBudgets.set(key, (this.#poolBudgets.get(key) ?? 0) + by);
      for (const pod of this.homePods(node)) {
        for (const budget of this.#pod(pod).disruptionBudgets ?? []) {
          this.#podBudgets[budget] = (this.#podBudgets[budget] as number) + by;
        }
      }
    }
  }

  /** The first budget of these nodes that has less than `least` left; without it, the first that they would overdraw. */
  #shortage(nodes: readonly number[], least?: number): KeptCause | undefined {
    const needs = new Map<number, number>();
    const poolNeeds = new Map<string, number>();
    for (const node of nodes) {
      const pool = this.#node(node).pool ?? '';
      const reason = this.reasonFor(node);
      const key = `${pool}/${reason}`;
      poolNeeds.set(key, (poolNeeds.get(key) ?? 0) + 1);
      const left = this.#poolBudgets.get(key) ?? 0;
      if (left < (least ?? (poolNeeds.get(key) as number))) {
        return { kind: 'pool-budget', pool, reason, allowed: this.#pools.get(pool)?.allowed?.[reason] ?? 0 };
      }
      for (const pod of this.homePods(node)) {
        for (const budget of this.#pod(pod).disruptionBudgets ?? []) {
          needs.set(budget, (needs.get(budget) ?? 0) + 1);
          if ((this.#podBudgets[budget] as number) < (least ?? (needs.get(budget) as number))) {
            return this.#budgetCause(budget, pod);
          }
        }
      }
    }
    return undefined;
  }

  #block(node: number): KeptCause | undefined {
    const { hold, pool } = this.#node(node);
    if (hold !== undefined) return { kind: 'hold', hold };
    if (pool === undefined || (this.#compiled.nodePool[node] as number) < 0) return { kind: 'no-pool' };
    const disruption = this.#pools.get(pool);
    if (disruption === undefined) return { kind: 'policy', pool, policy: 'none' };
    const pods = this.homePods(node);
    if (pods.length > 0 && disruption.policy === 'WhenEmpty') return { kind: 'policy', pool, policy: 'WhenEmpty' };
    for (const number of pods) {
      const pod = this.#pod(number);
      if (pod.doNotDisrupt === true) return { kind: 'pod', pod: pod.name };
      if ((pod.disruptionBudgets ?? []).length > 1) return { kind: 'several-disruption-budgets', pod: pod.name };
    }
    return this.#shortage([node]);
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
