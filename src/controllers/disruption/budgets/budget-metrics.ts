import type { NodePool } from '../../../apis/karpenter/node-pool.ts';
import { DISRUPTION_REASONS } from '../../../apis/karpenter/node-pool-schema.ts';
import type { GaugeMetric, Metrics } from '../../../platform/metrics.ts';
import type { BudgetedReason } from './allowed-disruptions.ts';
import type { Budgets } from './budgets.ts';

/** All reasons that budgets distinguish. */
export const BUDGETED_REASONS: readonly BudgetedReason[] = [...DISRUPTION_REASONS, 'Expired'];

/** Means unlimited, as in Karpenter's metric. */
const UNLIMITED = 2 ** 31 - 1;

/** Gauges of what budgets allow, and of the nodes that count against them. */
export class BudgetMetrics {
  readonly #allowed: GaugeMetric<'nodepool' | 'reason'>;
  readonly #consuming: GaugeMetric<'nodepool' | 'reason'>;
  #shown: ReadonlySet<string> = new Set();

  constructor(metrics: Metrics) {
    const labels = ['nodepool', 'reason'] as const;
    this.#allowed = metrics.gauge({
      name: 'karpenter_nodepools_allowed_disruptions',
      help: 'Disruptions that the budgets allow now, per NodePool and reason; 2147483647 means unlimited',
      labels,
    });
    this.#consuming = metrics.gauge({
      name: 'karpenter_nodepools_nodes_consuming_budgets',
      help: 'Nodes that count against the budgets, being disrupted or not ready, per NodePool and reason',
      labels,
    });
  }

  show(pools: readonly NodePool[], budgets: Budgets): void {
    const names = new Set(pools.map(({ metadata }) => metadata.name ?? ''));
    for (const reason of BUDGETED_REASONS) {
      for (const nodepool of names) {
        const { allowed, disrupting } = budgets.of(nodepool, reason);
        const labels = { nodepool, reason: reason.toLowerCase() };
        this.#allowed.set(labels, Math.min(allowed, UNLIMITED));
        this.#consuming.set(labels, disrupting);
      }
      for (const nodepool of this.#shown) {
        if (names.has(nodepool)) continue;
        this.#allowed.remove({ nodepool, reason: reason.toLowerCase() });
        this.#consuming.remove({ nodepool, reason: reason.toLowerCase() });
      }
    }
    this.#shown = names;
  }
}
