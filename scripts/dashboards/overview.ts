import type { Dashboard } from './dashboard.ts';
import { LEADS, quantiles } from './expressions.ts';

/** Nodes of ours, once each however many replicas show them. */
const NODES =
  'max by (node_name, nodepool, capacity_type, instance_type, zone) (karpenter_nodes_current_lifetime_seconds{job=~"$job",managed="true",nodepool=~"$nodepool"})';
const COST = 'max by (nodepool) (karpenter_nodepools_cost_total{job=~"$job",nodepool=~"$nodepool"})';

/** Price, nodes and pending pods. */
export const OVERVIEW: Dashboard = {
  uid: 'spindrift-overview',
  title: 'Spindrift / Overview',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          title: 'Cost per hour',
          description: 'The price of all nodes of the chosen NodePools, at the latest prices.',
          ...{ type: 'stat', unit: 'currencyUSD', width: 4 },
          queries: [{ expr: `sum(${COST})` }],
        },
        {
          title: 'Nodes',
          description: 'Nodes of the chosen NodePools.',
          ...{ type: 'stat', width: 4 },
          queries: [{ expr: `count(${NODES})` }],
        },
        {
          title: 'Spot share',
          description: 'Spot nodes as a share of all nodes.',
          ...{ type: 'stat', unit: 'percentunit', width: 4 },
          queries: [{ expr: `count(${NODES.replace('managed=', 'capacity_type="spot",managed=')}) / count(${NODES})` }],
        },
        {
          title: 'Pending pods',
          description: 'Pods without a node, for any reason.',
          ...{ type: 'stat', width: 4 },
          queries: [
            {
              expr: 'count(max by (namespace, exported_namespace, name) (karpenter_pods_unbound_time_seconds{job=~"$job"})) or vector(0)',
            },
          ],
        },
        {
          title: 'Unschedulable pods',
          description: 'Pending pods for which no NodePool can launch a node. `spindrift why pod/NAME` says why.',
          ...{ type: 'stat', width: 4 },
          queries: [{ expr: `max(karpenter_scheduler_unschedulable_pods_count{job=~"$job"} ${LEADS})` }],
        },
        {
          title: 'Leader',
          description: '1 when one replica leads.',
          ...{ type: 'stat', width: 4 },
          queries: [{ expr: 'sum(leader_election_master_status{job=~"$job"})' }],
        },
      ],
    },
    {
      title: 'Capacity and price',
      panels: [
        {
          title: 'Cost per hour by NodePool',
          description: 'The price of the nodes of each NodePool.',
          ...{ type: 'timeseries', unit: 'currencyUSD', stacked: true },
          queries: [{ expr: COST, legend: '{{nodepool}}' }],
        },
        {
          title: 'Nodes by capacity type',
          description: 'Spot, reserved and on-demand nodes.',
          ...{ type: 'timeseries', stacked: true },
          queries: [{ expr: `count by (capacity_type) (${NODES})`, legend: '{{capacity_type}}' }],
        },
        {
          title: 'Nodes by instance type',
          description: 'The ten instance types with the most nodes.',
          ...{ type: 'timeseries', stacked: true },
          queries: [{ expr: `topk(10, count by (instance_type) (${NODES}))`, legend: '{{instance_type}}' }],
        },
        {
          title: 'Requests in percent of allocatable',
          description: 'Requests of all pods, in percent of what all nodes can allocate.',
          ...{ type: 'timeseries', unit: 'percent' },
          queries: [
            {
              expr: 'max by (resource_type) (karpenter_cluster_utilization_percent{job=~"$job",resource_type=~"cpu|memory"})',
              legend: '{{resource_type}}',
            },
          ],
        },
        {
          title: 'Price of the fleet against its lower bound',
          description:
            'The price of all nodes now, after the moves of the latest consolidation plan, and the lowest price that any fleet for these pods can have.',
          ...{ type: 'timeseries', unit: 'currencyUSD' },
          queries: [
            {
              expr: `max by (bound) (spindrift_consolidation_price_dollars_per_hour{job=~"$job"} ${LEADS})`,
              legend: '{{bound}}',
            },
          ],
        },
        {
          title: 'NodePool limits',
          description: 'How much of its limit each NodePool uses. No node is launched above 100 %.',
          ...{ type: 'timeseries', unit: 'percentunit' },
          queries: [
            {
              expr: `max by (nodepool, resource_type) ((karpenter_nodepools_usage{job=~"$job",nodepool=~"$nodepool"} / karpenter_nodepools_limit{job=~"$job",nodepool=~"$nodepool"}) ${LEADS})`,
              legend: '{{nodepool}} {{resource_type}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Changes',
      panels: [
        {
          title: 'NodeClaims created and terminated',
          description: 'NodeClaims created per reason, and NodeClaims terminated with their machine, per hour.',
          type: 'timeseries',
          queries: [
            {
              expr: 'sum by (reason) (rate(karpenter_nodeclaims_created_total{job=~"$job",nodepool=~"$nodepool"}[$__rate_interval])) * 3600',
              legend: 'launched: {{reason}}',
            },
            {
              expr: 'sum(rate(karpenter_nodeclaims_terminated_total{job=~"$job",nodepool=~"$nodepool"}[$__rate_interval])) * 3600',
              legend: 'gone',
            },
          ],
        },
        {
          title: 'Disruptions by reason',
          description: 'NodeClaims that Spindrift deleted, per reason and hour.',
          ...{ type: 'timeseries', stacked: true },
          queries: [
            {
              expr: 'sum by (reason) (rate(karpenter_nodeclaims_disrupted_total{job=~"$job",nodepool=~"$nodepool"}[$__rate_interval])) * 3600',
              legend: '{{reason}}',
            },
          ],
        },
        {
          title: 'From pending to running',
          description: 'Time until a pod ran for which a node had to be launched.',
          ...{ type: 'timeseries', unit: 's' },
          queries: quantiles('karpenter_pods_provisioning_startup_duration_seconds_bucket{job=~"$job"}'),
        },
      ],
    },
  ],
};
