import type { CounterMetric, HistogramMetric, Metrics } from '../../../platform/metrics.ts';

/** How a reboot ended. */
export type RebootResult = 'succeeded' | 'provider_error' | 'recovery_timeout';

export interface RebootMetrics {
  readonly reboots: CounterMetric<'result'>;
  readonly duration: HistogramMetric<'result'>;
  readonly recovery: HistogramMetric<never>;
}

const SECONDS = [10, 30, 60, 120, 300, 600, 1200, 1800];

export function rebootMetrics(metrics: Metrics): RebootMetrics {
  return {
    reboots: metrics.counter({
      name: 'karpenter_nodes_reboots_total',
      help: 'Reboots of unhealthy nodes, per result',
      labels: ['result'],
    }),
    duration: metrics.histogram({
      name: 'karpenter_nodes_reboot_duration_seconds',
      help: 'From the request of a reboot to its end, in seconds, per result',
      labels: ['result'],
      buckets: SECONDS,
    }),
    recovery: metrics.histogram({
      name: 'karpenter_nodes_reboot_recovery_duration_seconds',
      help: "From the cloud's answer until the node is ready again, in seconds",
      labels: [],
      buckets: SECONDS,
    }),
  };
}
