import type { GaugeMetric, HistogramMetric, Metrics } from '../../platform/metrics.ts';

export interface ProvisioningMetrics {
  readonly duration: HistogramMetric<'controller'>;
  readonly unschedulable: GaugeMetric<'controller'>;
  readonly ignored: GaugeMetric<never>;
  readonly price: GaugeMetric<'bound'>;
}

/** Uses Karpenter's metric names where Karpenter has the metric. */
export function provisioningMetrics(metrics: Metrics): ProvisioningMetrics {
  return {
    duration: metrics.histogram({
      name: 'karpenter_scheduler_scheduling_duration_seconds',
      help: 'Duration of planning a batch of pods, in seconds, per controller',
      labels: ['controller'],
    }),
    unschedulable: metrics.gauge({
      name: 'karpenter_scheduler_unschedulable_pods_count',
      help: 'Unschedulable pods of the latest batch: they fit on no node and none can be launched, per controller',
      labels: ['controller'],
    }),
    ignored: metrics.gauge({
      name: 'karpenter_scheduler_ignored_pods_count',
      help: 'Pods of the latest batch that could not be planned, such as pods whose PersistentVolumeClaim does not exist',
    }),
    price: metrics.gauge({
      name: 'spindrift_provisioning_plan_price_dollars_per_hour',
      help: 'Price of the latest plan, and a proven lower bound for any plan (bound: plan, lower), in USD per hour',
      labels: ['bound'],
    }),
  };
}
