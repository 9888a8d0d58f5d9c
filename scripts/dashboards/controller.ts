import type { Dashboard } from './dashboard.ts';
import { LEADS, quantiles } from './expressions.ts';

/** The controller itself: reconciles, requests, memory. */
export const CONTROLLER: Dashboard = {
  uid: 'spindrift-controller',
  title: 'Spindrift / Controller',
  rows: [
    {
      title: 'Process',
      panels: [
        {
          title: 'Memory',
          description: 'Resident memory of each replica.',
          ...{ type: 'timeseries', unit: 'bytes' },
          queries: [{ expr: 'process_resident_memory_bytes{job=~"$job"}', legend: '{{instance}}' }],
        },
        {
          title: 'CPU',
          description: 'Cores that each replica uses.',
          type: 'timeseries',
          queries: [{ expr: 'rate(process_cpu_seconds_total{job=~"$job"}[$__rate_interval])', legend: '{{instance}}' }],
        },
        {
          title: 'Event loop lag',
          description: 'The 99th percentile. Above a second, leases and notices are handled late.',
          ...{ type: 'timeseries', unit: 's' },
          queries: [{ expr: 'nodejs_eventloop_lag_p99_seconds{job=~"$job"}', legend: '{{instance}}' }],
        },
      ],
    },
    {
      title: 'Planning',
      panels: [
        {
          title: 'Scheduling time',
          description: 'Time to plan nodes for a batch of pods.',
          ...{ type: 'timeseries', unit: 's' },
          queries: quantiles('karpenter_scheduler_scheduling_duration_seconds_bucket{job=~"$job"}'),
        },
        {
          title: 'Time to find disruptions',
          description: 'Average time to find nodes to disrupt, per reason.',
          ...{ type: 'timeseries', unit: 's' },
          queries: [
            {
              expr: 'sum by (reason) (rate(karpenter_voluntary_disruption_decision_evaluation_duration_seconds_sum{job=~"$job"}[$__rate_interval])) / sum by (reason) (rate(karpenter_voluntary_disruption_decision_evaluation_duration_seconds_count{job=~"$job"}[$__rate_interval]))',
              legend: '{{reason}}',
            },
          ],
        },
        {
          title: 'Disruptions that budgets allow',
          description: 'Per NodePool and reason. 0: a disruption budget blocks every disruption.',
          type: 'timeseries',
          queries: [
            {
              expr: `max by (nodepool, reason) ((karpenter_nodepools_allowed_disruptions{job=~"$job",nodepool=~"$nodepool"} < 2147483647) ${LEADS})`,
              legend: '{{nodepool}} {{reason}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Controllers',
      panels: [
        {
          title: 'Failed reconciles',
          description: 'Per controller and second.',
          type: 'timeseries',
          queries: [
            {
              expr: 'sum by (controller) (rate(controller_runtime_reconcile_errors_total{job=~"$job"}[$__rate_interval])) > 0',
              legend: '{{controller}}',
            },
          ],
        },
        {
          title: 'Reconcile time',
          description: 'The 95th percentile per controller.',
          ...{ type: 'timeseries', unit: 's' },
          queries: [
            {
              expr: 'histogram_quantile(0.95, sum by (le, controller) (rate(controller_runtime_reconcile_time_seconds_bucket{job=~"$job"}[$__rate_interval])))',
              legend: '{{controller}}',
            },
          ],
        },
        {
          title: 'Queues',
          description: 'Keys that wait for a worker, per queue.',
          type: 'timeseries',
          queries: [{ expr: 'max by (name) (workqueue_depth{job=~"$job"})', legend: '{{name}}' }],
        },
      ],
    },
    {
      title: 'API server and clouds',
      panels: [
        {
          title: 'Requests to the API server',
          description: 'Per status code and second. `error`: no answer.',
          ...{ type: 'timeseries', stacked: true },
          queries: [
            {
              expr: 'sum by (code) (rate(rest_client_requests_total{job=~"$job"}[$__rate_interval]))',
              legend: '{{code}}',
            },
          ],
        },
        {
          title: 'Calls to clouds',
          description: 'The 95th percentile of call times, per method.',
          ...{ type: 'timeseries', unit: 's' },
          queries: [
            {
              expr: 'histogram_quantile(0.95, sum by (le, provider, method) (rate(karpenter_cloudprovider_duration_seconds_bucket{job=~"$job"}[$__rate_interval])))',
              legend: '{{provider}} {{method}}',
            },
          ],
        },
        {
          title: 'Failed calls to clouds',
          description: 'Per provider, method and error, per hour.',
          type: 'timeseries',
          queries: [
            {
              expr: 'sum by (provider, method, error) (rate(karpenter_cloudprovider_errors_total{job=~"$job"}[$__rate_interval])) * 3600',
              legend: '{{provider}} {{method}} {{error}}',
            },
          ],
        },
      ],
    },
  ],
};
