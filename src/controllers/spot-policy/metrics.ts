import type { CounterMetric, GaugeMetric, Metrics } from '../../platform/metrics.ts';

export interface RiskMetrics {
  readonly rate: GaugeMetric<'instance_type' | 'zone'>;
  readonly events: CounterMetric<'instance_type' | 'zone' | 'event'>;
}

/** One series for each spot pool in which something happened, and one for the cluster. */
export function riskMetrics(metrics: Metrics, clusterRate: () => number): RiskMetrics {
  metrics.counted(
    {
      name: 'spindrift_cluster_interruption_rate',
      help: 'Interruptions per spot node and hour in the whole cluster; warnings and failed launches count as part of one, and what is old counts less; 0 without spot nodes',
    },
    (): [Readonly<Record<never, string>>, number][] => [[{}, clusterRate()]],
  );
  return {
    rate: metrics.gauge({
      name: 'spindrift_spot_pool_interruption_rate',
      help: 'Interruptions to expect per node and hour, per spot pool in which there were nodes or something happened',
      labels: ['instance_type', 'zone'],
    }),
    events: metrics.counter({
      name: 'spindrift_spot_pool_interruptions_total',
      help: 'What happened in a spot pool, per pool and event: interruption, rebalance, launch-failure',
      labels: ['instance_type', 'zone', 'event'],
    }),
  };
}
