/**
 * Keeps consolidation within the SpotPolicies. The new nodes of a move get the capacity types that the limits require. A move is refused
 * if it removes on-demand nodes that a policy requires, crowds a spot pool, saves too little with these capacity types, or returns more
 * nodes to spot than the budget allows. Moves are judged in order: each allowed move counts for the next.
 */
import type { Move } from '../../engine/consolidation/plan.ts';
import { moveSentence } from '../../engine/consolidation/sentences.ts';
import type { NewNode } from '../../engine/solution.ts';
import { returnBudget } from '../../engine/spot/return-to-spot.ts';
import { type FleetCounts, onDemandWanted } from '../../engine/spot/spot-limits.ts';
import { type SpotPool, spotPoolKey } from '../../engine/spot/spot-pool.ts';
import { type PoolToSpread, spreadOverSpotPools } from '../../engine/spot/spread-over-spot-pools.ts';
import { isGoing, labelsOf, poolOf, type StateNode } from '../../state/state-node.ts';
import { isFallbackNode } from './fallback-node.ts';
import { type PoolsToSpreadOptions, poolsToSpread } from './pools-to-spread.ts';
import { spotPoolOf } from './spot-pool-of.ts';

/** The move as allowed, or why it is refused. */
export type Judgement = { readonly move: Move } | { readonly because: string };

/** Share of the planned savings that must remain. */
const STILL_SAVED = 0.5;

export class MoveJudge {
  readonly #options: PoolsToSpreadOptions;
  readonly #states: ReadonlyMap<string, StateNode>;
  /** Number of nodes per pool. */
  readonly #sizes = new Map<string, number>();
  /** Pools with limits; their counts include the allowed moves. */
  readonly #pools: Map<string, PoolToSpread>;
  /** Nodes returning to spot, per pool. */
  readonly #returning = new Map<string, number>();
  /** Fallback nodes that stay. */
  readonly #fallbacks: Set<StateNode>;

  /** `nodes`: all nodes, including those being removed. */
  constructor(options: PoolsToSpreadOptions) {
    const staying = options.nodes.filter((node) => !isGoing(node));
    this.#options = options;
    this.#states = new Map(staying.map((node) => [node.name, node]));
    this.#pools = new Map(poolsToSpread({ ...options, nodes: staying }));
    this.#fallbacks = new Set(staying.filter(isFallbackNode));
    for (const node of options.nodes) {
      const pool = poolOf(node) ?? '';
      this.#sizes.set(pool, (this.#sizes.get(pool) ?? 0) + 1);
      if (isGoing(node) && isFallbackNode(node)) this.#count(pool);
    }
  }

  /** Judges a move; an allowed move counts as done. */
  judge(move: Move): Judgement {
    const gone = move.nodes.flatMap((name) => this.#states.get(name) ?? []);
    const left = this.#without(gone);
    const { newNodes, changes, gaps } = spreadOverSpotPools(move.newNodes, left);
    const [gap] = gaps;
    if (gap !== undefined) {
      const { policy } = this.#options.policies.for(gap.pool);
      return { because: `by SpotPolicy ${policy} ${gap.limit}, and no new node that is like that saves enough` };
    }
    const extra = changes.reduce((sum, { from, to }) => sum + to.price - from.price, 0);
    const savings = move.savings - extra;
    if (extra > 0 && savings < move.savings * STILL_SAVED)
      return { because: `its nodes would have to be ${changes[0]?.sentence}, and little would be saved` };
    const after = withNew(left, newNodes);
    const refused =
      this.#onDemandTaken(after) ??
      // Removing empty nodes does not change how pods are spread.
      (move.reason === 'Empty' ? undefined : this.#crowded(after)) ??
      this.#ownTaken(gone, newNodes, after) ??
      this.#returnsTooMany(gone, newNodes);
    if (refused !== undefined) return { because: refused };
    for (const [name, pool] of after) this.#pools.set(name, pool);
    for (const node of gone) this.#fallbacks.delete(node);
    // Only the order of alternative offerings may have changed.
    if (changes.length === 0) return { move: newNodes === move.newNodes ? move : { ...move, newNodes } };
    const score = move.disruptionCost === 0 ? move.score : savings / move.disruptionCost;
    const settled = { ...move, newNodes, savings, score };
    const types = newNodes.map(({ offerings: [first] }) => this.#called(first?.instanceType ?? ''));
    return { move: { ...settled, sentence: moveSentence(settled, types) } };
  }

  /** Whether removing this node alone would break a limit. */
  asksFor(node: string): boolean {
    const state = this.#states.get(node);
    if (state === undefined || !this.#pools.has(poolOf(state) ?? '')) return false;
    const after = this.#without([state]);
    return (this.#onDemandTaken(after) ?? this.#crowded(after)) !== undefined;
  }

  /** The cloud's name of an instance type. */
  #called(instanceType: string): string {
    return this.#options.cloudName?.(instanceType) ?? instanceType;
  }

  /** The pools without these nodes. */
  #without(gone: readonly StateNode[]): Map<string, PoolToSpread> {
    const pools = new Map(this.#pools);
    for (const node of gone) {
      const name = poolOf(node) ?? '';
      const pool = pools.get(name);
      if (pool !== undefined) pools.set(name, counted(pool, spotPoolOf(labelsOf(node)), -1));
    }
    for (const [name, pool] of pools) pools.set(name, { ...pool, tolerated: this.#missing(name) });
    return pools;
  }

  /** Required on-demand nodes that a pool lacks. */
  #missing(name: string): number {
    const pool = this.#pools.get(name);
    return pool === undefined ? 0 : missingIn(pool);
  }

  /** Refuses a move after which a pool lacks more required on-demand nodes, or has fewer although it lacks some. */
  #onDemandTaken(after: ReadonlyMap<string, PoolToSpread>): string | undefined {
    for (const [name, pool] of after) {
      const fewer = pool.counts.onDemand < (this.#pools.get(name)?.counts.onDemand ?? 0);
      if (missingIn(pool) <= (fewer ? 0 : this.#missing(name))) continue;
      const { nodes } = pool.counts;
      const policy = this.#options.policies.for(name).policy ?? '';
      return `SpotPolicy ${policy} requires ${onDemandWanted(pool.limits, nodes)} of ${nodes} nodes of ${name} to be on-demand`;
    }
    return undefined;
  }

  /**
   * Refuses a move after which a spot pool exceeds its share by a whole node, and by more than before. Without that tolerance a fleet at
   * its limits could only shrink by one node of every spot pool at a time.
   */
  #crowded(after: ReadonlyMap<string, PoolToSpread>): string | undefined {
    for (const [name, pool] of after) {
      const before = this.#pools.get(name);
      const excess = excessIn(pool);
      if (before === undefined || excess < 1 || excess <= excessIn(before)) continue;
      const { policy, limits } = this.#options.policies.for(name);
      const { nodes, spot } = pool.counts;
      return `SpotPolicy ${policy} allows ${limits.maxPercentPerSpotPool} % of the nodes of ${name} in one spot pool, not ${Math.max(...spot.values())} of ${nodes}`;
    }
    return undefined;
  }

  /**
   * Refuses to replace required on-demand nodes by spot while fallback nodes stand in for them: the fallback nodes return to spot
   * themselves.
   */
  #ownTaken(
    gone: readonly StateNode[],
    newNodes: readonly NewNode[],
    after: ReadonlyMap<string, PoolToSpread>,
  ): string | undefined {
    if (this.#fallbacks.size === 0 || !newNodes.some(isSpot)) return undefined;
    const left = [...this.#fallbacks].filter((node) => !gone.includes(node));
    const standIns = (nodes: Iterable<StateNode>, name: string): number =>
      [...nodes].filter((node) => poolOf(node) === name).length;
    for (const [name, { counts, limits }] of after) {
      const own = (this.#pools.get(name)?.counts.onDemand ?? 0) - standIns(this.#fallbacks, name);
      const ownAfter = counts.onDemand - standIns(left, name);
      if (ownAfter >= Math.min(own, onDemandWanted(limits, counts.nodes))) continue;
      return `nodes of ${name} that are on-demand for lack of spot return to spot first; the others stay on-demand until then`;
    }
    return undefined;
  }

  #returnsTooMany(gone: readonly StateNode[], newNodes: readonly NewNode[]): string | undefined {
    if (!newNodes.some(isSpot)) return undefined;
    const returning = Map.groupBy(gone.filter(isFallbackNode), (node) => poolOf(node) ?? '');
    for (const [name, { length }] of returning) {
      const { afterMs, budget } = this.#options.policies.for(name).returnToSpot;
      if (afterMs === undefined) return `machines of ${name} do not return to spot: returnToSpot.after is Never`;
      const most = returnBudget(budget, this.#sizes.get(name) ?? 0);
      if ((this.#returning.get(name) ?? 0) + length > most)
        return `no more than ${most} machines of ${name} return to spot at a time`;
    }
    for (const [name, { length }] of returning) this.#count(name, length);
    return undefined;
  }

  #count(pool: string, machines = 1): void {
    this.#returning.set(pool, (this.#returning.get(pool) ?? 0) + machines);
  }
}

function missingIn({ limits, counts }: PoolToSpread): number {
  return Math.max(0, onDemandWanted(limits, counts.nodes) - counts.onDemand);
}

/** Nodes of the fullest spot pool beyond its share; one node is always allowed. */
function excessIn({ limits, counts: { nodes, spot } }: PoolToSpread): number {
  const fullest = Math.max(0, ...spot.values());
  return fullest <= 1 ? 0 : Math.max(0, fullest - (nodes * limits.maxPercentPerSpotPool) / 100);
}

function isSpot({ offerings }: NewNode): boolean {
  return offerings[0]?.capacityType === 'spot';
}

function withNew(pools: ReadonlyMap<string, PoolToSpread>, newNodes: readonly NewNode[]): Map<string, PoolToSpread> {
  const after = new Map(pools);
  for (const { pool: name, offerings } of newNodes) {
    const pool = after.get(name);
    const [first] = offerings;
    if (pool === undefined || first === undefined) continue;
    const instanceType = pool.cloudName?.(first.instanceType) ?? first.instanceType;
    after.set(name, counted(pool, first.capacityType === 'spot' ? { instanceType, zone: first.zone } : undefined, 1));
  }
  return after;
}

/** The pool with one node more or fewer; a node without a spot pool is on-demand. */
function counted(pool: PoolToSpread, spotPool: SpotPool | undefined, by: 1 | -1): PoolToSpread {
  const { nodes, onDemand, spot } = pool.counts;
  const key = spotPool && spotPoolKey(spotPool);
  const counts: FleetCounts =
    key === undefined
      ? { nodes: nodes + by, onDemand: onDemand + by, spot }
      : { nodes: nodes + by, onDemand, spot: new Map(spot).set(key, (spot.get(key) ?? 0) + by) };
  return { ...pool, counts };
}
