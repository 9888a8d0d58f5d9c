/** The budgets of all pools at one moment, less what decisions have taken since. */
import type { NodePool } from '../../../apis/karpenter/node-pool.ts';
import type { BudgetsLeft } from '../../../engine/consolidation/pool-budgets.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import type { StateNode } from '../../../state/state-node.ts';
import {
  type AllowedDisruptions,
  allowedDisruptions,
  type BudgetedReason,
  type PoolNodes,
} from './allowed-disruptions.ts';
import { poolNodes } from './pool-nodes.ts';

const NO_NODES: PoolNodes = { total: 0, going: 0, notReady: 0 };
const NOTHING: AllowedDisruptions = { allowed: 0, limit: 0, disrupting: 0 };

export class Budgets implements BudgetsLeft<BudgetedReason> {
  readonly #pools: ReadonlyMap<string, NodePool>;
  readonly #nodes: Map<string, PoolNodes>;
  readonly #now: EpochMs;

  constructor({ pools, nodes, now }: BudgetsOptions) {
    this.#pools = new Map(pools.map((pool) => [pool.metadata.name ?? '', pool]));
    this.#nodes = poolNodes(nodes);
    this.#now = now;
  }

  /** What the budgets of a pool allow for a reason; nothing if the pool does not exist. */
  of(pool: string, reason: BudgetedReason): AllowedDisruptions {
    const found = this.#pools.get(pool);
    if (found === undefined) return NOTHING;
    return allowedDisruptions(found, this.nodesOf(pool), reason, this.#now);
  }

  /** Disruptions of a pool allowed right now for a reason. */
  left(pool: string, reason: BudgetedReason): number {
    return this.of(pool, reason).allowed;
  }

  /** Counts nodes of a pool as disrupted, for every reason; a negative count gives them back. */
  take(pool: string, count = 1): void {
    const nodes = this.nodesOf(pool);
    this.#nodes.set(pool, { ...nodes, going: nodes.going + count });
  }

  /** The nodes of a pool as its budgets count them. */
  nodesOf(pool: string): PoolNodes {
    return this.#nodes.get(pool) ?? NO_NODES;
  }

  /** When a budget of any pool next becomes active or inactive. */
  changesAt(reasons: readonly BudgetedReason[]): EpochMs | undefined {
    const times = [...this.#pools.keys()].flatMap((pool) =>
      reasons.map((reason) => this.of(pool, reason).changesAt ?? Number.POSITIVE_INFINITY),
    );
    const first = Math.min(...times);
    return Number.isFinite(first) ? (first as EpochMs) : undefined;
  }
}

export interface BudgetsOptions {
  readonly pools: readonly NodePool[];
  readonly nodes: readonly StateNode[];
  readonly now: EpochMs;
}
