import type { CounterMetric, GaugeMetric, Metrics } from '../../platform/metrics.ts';

export interface LaunchGuardMetrics {
  readonly futile: CounterMetric<'nodepool' | 'reason'>;
  readonly waiting: GaugeMetric<never>;
}

export function launchGuardMetrics(metrics: Metrics): LaunchGuardMetrics {
  return {
    futile: metrics.counter({
      name: 'spindrift_provisioning_futile_launches_total',
      help: 'Launches whose nodes none of their planned pods run on, per pool and reason (never-joined, unused, pod-failed); alert on any increase',
      labels: ['nodepool', 'reason'],
    }),
    waiting: metrics.gauge({
      name: 'spindrift_provisioning_backed_off_pods',
      help: 'Pending pods whose next launch is backed off because they run on none of the nodes launched for them',
    }),
  };
}
