import type { GaugeMetric, HistogramMetric, Metrics } from '../../platform/metrics.ts';

export interface ProvisioningMetrics {
  readonly duration: HistogramMetric<'controller'>;
  readonly unschedulable: GaugeMetric<'controller'>;
  readonly ignored: GaugeMetric<never>;
  readonly price: GaugeMetric<'bound'>;
}

/** Upstream's names where upstream has the metric. */
export function provisioningMetrics(metrics: Metrics): ProvisioningMetrics {
  return {
    duration: metrics.histogram({
      name: 'karpenter_scheduler_scheduling_duration_seconds',
      help: 'How long it took to find places for a batch of pods, per controller that asked',
      labels: ['controller'],
    }),
    unschedulable: metrics.gauge({
      name: 'karpenter_scheduler_unschedulable_pods_count',
      help: 'Pods of the latest batch that no node can be made for, per controller that asked',
      labels: ['controller'],
    }),
    ignored: metrics.gauge({
      name: 'karpenter_scheduler_ignored_pods_count',
      help: 'Pods of the latest batch that could not be asked about, such as pods whose volume claim does not exist',
    }),
    price: metrics.gauge({
      name: 'spindrift_provisioning_plan_price_dollars_per_hour',
      help: 'The price of the latest plan, and the lower bound that no plan can go below (bound: plan, lower)',
      labels: ['bound'],
    }),
  };
}
