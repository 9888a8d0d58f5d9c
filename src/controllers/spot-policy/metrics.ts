import type { CounterMetric, GaugeMetric, Metrics } from '../../platform/metrics.ts';

export interface RiskMetrics {
  readonly rate: GaugeMetric<'instance_type' | 'zone'>;
  readonly events: CounterMetric<'instance_type' | 'zone' | 'event'>;
}

/** One series per spot pool with nodes or events, and one for the cluster. */
export function riskMetrics(metrics: Metrics, clusterRate: () => number): RiskMetrics {
  metrics.counted(
    {
      name: 'spindrift_cluster_interruption_rate',
      help: 'Interruptions per spot node and hour in the whole cluster; rebalance notices and failed launches count as fractions, and older events count less; 0 without spot nodes',
    },
    (): [Readonly<Record<never, string>>, number][] => [[{}, clusterRate()]],
  );
  return {
    rate: metrics.gauge({
      name: 'spindrift_spot_pool_interruption_rate',
      help: 'Expected interruptions per node and hour, per spot pool with nodes or events',
      labels: ['instance_type', 'zone'],
    }),
    events: metrics.counter({
      name: 'spindrift_spot_pool_interruptions_total',
      help: 'Events of a spot pool, per pool and event: interruption, rebalance, launch-failure',
      labels: ['instance_type', 'zone', 'event'],
    }),
  };
}
