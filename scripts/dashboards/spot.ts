import type { Dashboard } from './dashboard.ts';
import { LEADS, quantiles } from './expressions.ts';

/** Interruptions, prices and risk of spot capacity. */
export const SPOT: Dashboard = {
  uid: 'spindrift-spot',
  title: 'Spindrift / Spot and interruptions',
  rows: [
    {
      title: 'Interruptions',
      panels: [
        {
          title: 'Interruptions by kind',
          description: 'Our machines that the cloud takes back or warns about, per hour.',
          ...{ type: 'timeseries', stacked: true },
          queries: [
            {
              expr: 'sum by (kind) (rate(spindrift_interruptions_total{job=~"$job",nodepool=~"$nodepool"}[$__rate_interval])) * 3600',
              legend: '{{kind}}',
            },
          ],
        },
        {
          title: 'Interruption rate',
          description: 'Interruptions per spot node and hour in the whole cluster. Older ones count less.',
          type: 'timeseries',
          queries: [
            {
              expr: `max(spindrift_cluster_interruption_rate{job=~"$job"} ${LEADS})`,
              legend: 'per node and hour',
            },
          ],
        },
        {
          title: 'Notices by outcome',
          description: 'acted: written on the claim. late: after the deadline. foreign: a machine that is not ours.',
          ...{ type: 'timeseries', stacked: true },
          queries: [
            {
              expr: 'sum by (outcome) (rate(spindrift_interruption_notices_total{job=~"$job"}[$__rate_interval])) * 3600',
              legend: '{{outcome}}',
            },
          ],
        },
        {
          title: 'Time to acknowledge a notice',
          description: 'Time from the cloud sending a notice until it was acknowledged.',
          ...{ type: 'timeseries', unit: 's' },
          queries: quantiles('karpenter_interruption_message_queue_duration_seconds_bucket{job=~"$job"}'),
        },
        {
          title: 'Oldest notice in the queue',
          description: 'Of the SQS queue. Above a minute, drains begin late.',
          ...{ type: 'timeseries', unit: 's' },
          queries: [{ expr: 'max(spindrift_interruption_oldest_message_age_seconds{job=~"$job"})', legend: 'age' }],
        },
        {
          title: 'Pods that left drained nodes',
          description: 'evicted: in time. deadline, machine_gone: not in time.',
          ...{ type: 'timeseries', stacked: true },
          queries: [
            {
              expr: 'sum by (reason) (rate(karpenter_pods_drained_total{job=~"$job"}[$__rate_interval])) * 3600',
              legend: '{{reason}}',
            },
          ],
        },
        {
          title: 'Replicas of services with ready-replicas',
          description:
            'Services with the annotation spindrift.dev/ready-replicas: wanted, ready, on spot and on demand.',
          type: 'timeseries',
          queries: [
            {
              expr: 'max by (name, replicas) (spindrift_services_replicas{job=~"$job"})',
              legend: '{{name}} {{replicas}}',
            },
          ],
        },
        {
          title: 'Eviction requests by answer',
          description: '429: a PodDisruptionBudget refuses the eviction now.',
          type: 'timeseries',
          queries: [
            {
              expr: 'sum by (code) (rate(karpenter_pods_eviction_requests_total{job=~"$job"}[$__rate_interval]))',
              legend: '{{code}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Spot market',
      panels: [
        {
          title: 'Riskiest spot pools',
          description: 'Expected interruptions per node and hour, for the ten riskiest instance types and zones.',
          ...{ type: 'table', width: 12 },
          queries: [
            {
              expr: 'topk(10, max by (instance_type, zone) (spindrift_spot_pool_interruption_rate{job=~"$job"}))',
              legend: '{{instance_type}} {{zone}}',
            },
          ],
        },
        {
          title: 'Interruptions by instance type and zone',
          description: 'The ten with the most in the last day.',
          ...{ type: 'table', width: 12 },
          queries: [
            {
              expr: 'topk(10, sum by (instance_type, zone) (increase(spindrift_interruptions_total{job=~"$job",nodepool=~"$nodepool"}[1d])))',
              legend: '{{instance_type}} {{zone}}',
            },
          ],
        },
        {
          title: 'Available offerings',
          description: 'Per capacity type. A fall means that the cloud refuses launches.',
          type: 'timeseries',
          queries: [
            {
              expr: 'sum by (capacity_type) (max by (instance_type, zone, capacity_type) (karpenter_cloudprovider_instance_type_offering_available{job=~"$job"}))',
              legend: '{{capacity_type}}',
            },
          ],
        },
        {
          title: 'Cheapest offering',
          description: 'The price of the cheapest offering per capacity type.',
          ...{ type: 'timeseries', unit: 'currencyUSD' },
          queries: [
            {
              expr: 'min by (capacity_type) (karpenter_cloudprovider_instance_type_offering_price_estimate{job=~"$job"} > 0)',
              legend: '{{capacity_type}}',
            },
          ],
        },
        {
          title: 'Failed launches',
          description: 'Failed calls to launch a machine, per error.',
          ...{ type: 'timeseries', stacked: true },
          queries: [
            {
              expr: 'sum by (error) (rate(karpenter_cloudprovider_errors_total{job=~"$job",method="Create"}[$__rate_interval])) * 3600',
              legend: '{{error}}',
            },
          ],
        },
        {
          title: 'Launches that helped no pod',
          description: 'Per NodePool and reason, per hour. Each one needs a look.',
          type: 'timeseries',
          queries: [
            {
              expr: 'sum by (nodepool, reason) (rate(spindrift_provisioning_futile_launches_total{job=~"$job"}[$__rate_interval])) * 3600',
              legend: '{{nodepool}} {{reason}}',
            },
          ],
        },
      ],
    },
  ],
};
