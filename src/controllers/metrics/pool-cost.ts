/** Cost of the nodes of each pool, at the latest known prices. */
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { InstanceType, Labels } from '../../engine/problem.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import { nodePrice, runningAs } from '../../state/node-price.ts';
import { labelsOf } from '../../state/state-node.ts';
import type { UsablePool } from '../../state/usable-pool.ts';

export interface PoolCostOptions {
  readonly metrics: Metrics;
  readonly state: ClusterState;
  /** The reservation that a node's labels name. */
  readonly reservationOf: (labels: Labels) => string | undefined;
}

export class PoolCost {
  readonly #options: PoolCostOptions;
  #types: ReadonlyMap<string, ReadonlyMap<string, InstanceType>> = new Map();

  constructor(options: PoolCostOptions) {
    this.#options = options;
    options.metrics.counted(
      {
        name: 'karpenter_nodepools_cost_total',
        help: 'Cost of the nodes of a pool, in dollars per hour, per pool',
        labels: ['nodepool'],
      },
      () => [...this.#costs()].map(([nodepool, cost]) => [{ nodepool }, cost] as const),
    );
  }

  /** Sets the present prices. */
  heard(pools: readonly UsablePool[]): void {
    this.#types = new Map(
      pools.map(({ pool, instanceTypes, sold = instanceTypes }) => [
        pool.metadata.name ?? '',
        new Map(sold.map((type) => [type.name, type])),
      ]),
    );
  }

  #costs(): Map<string, number> {
    const { state, reservationOf } = this.#options;
    const costs = new Map<string, number>();
    for (const node of state.nodes()) {
      const labels = labelsOf(node);
      const pool = labels[LABEL_NODE_POOL];
      if (node.claim === undefined || node.foreign === true || pool === undefined) continue;
      const running = runningAs(labels, reservationOf);
      const price = nodePrice(running, this.#types.get(pool)?.get(running.instanceType), node.claim);
      costs.set(pool, (costs.get(pool) ?? 0) + price);
    }
    return costs;
  }
}
