import type { NodePool } from '../../../apis/karpenter/node-pool.ts';
import { DISRUPTION_REASONS } from '../../../apis/karpenter/node-pool-schema.ts';
import type { GaugeMetric, Metrics } from '../../../platform/metrics.ts';
import type { BudgetedReason } from './allowed-disruptions.ts';
import type { Budgets } from './budgets.ts';

/** Every reason that budgets tell apart. */
export const BUDGETED_REASONS: readonly BudgetedReason[] = [...DISRUPTION_REASONS, 'Expired'];

/** What stands for any number, as in upstream's metric. */
const ANY_NUMBER = 2 ** 31 - 1;

/** Shows what budgets allow, and what uses them up. */
export class BudgetMetrics {
  readonly #allowed: GaugeMetric<'nodepool' | 'reason'>;
  readonly #consuming: GaugeMetric<'nodepool' | 'reason'>;
  #shown: ReadonlySet<string> = new Set();

  constructor(metrics: Metrics) {
    const labels = ['nodepool', 'reason'] as const;
    this.#allowed = metrics.gauge({
      name: 'karpenter_nodepools_allowed_disruptions',
      help: 'Nodes that the budgets of a pool let go now, per pool and reason; 2147483647 where no budget holds',
      labels,
    });
    this.#consuming = metrics.gauge({
      name: 'karpenter_nodepools_nodes_consuming_budgets',
      help: 'Nodes that use the budgets of a pool up, per pool and reason: they are going or not ready',
      labels,
    });
  }

  show(pools: readonly NodePool[], budgets: Budgets): void {
    const names = new Set(pools.map(({ metadata }) => metadata.name ?? ''));
    for (const reason of BUDGETED_REASONS) {
      for (const nodepool of names) {
        const { allowed, disrupting } = budgets.of(nodepool, reason);
        const labels = { nodepool, reason: reason.toLowerCase() };
        this.#allowed.set(labels, Math.min(allowed, ANY_NUMBER));
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
