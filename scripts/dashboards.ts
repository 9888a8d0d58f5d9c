/** Dashboards for Grafana, as tables of panels; `npm run gen` writes them as JSON into the chart. */

/** One curve or figure: what Prometheus is asked, and the legend of each series. */
interface Query {
  readonly expr: string;
  readonly legend?: string;
}

interface Panel {
  readonly title: string;
  /** What the panel shows and when to look at it, for the tooltip. */
  readonly description: string;
  readonly type: 'timeseries' | 'stat' | 'table';
  readonly unit?: string;
  readonly stacked?: true;
  /** Of 24 columns; a third of the row by default. */
  readonly width?: number;
  readonly queries: readonly Query[];
}

interface Dashboard {
  /** Names the file, and the dashboard in addresses. */
  readonly uid: string;
  readonly title: string;
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
}

/** Nodes of ours, once each however many replicas show them. */
const NODES =
  'max by (node_name, nodepool, capacity_type, instance_type, zone) (karpenter_nodes_current_lifetime_seconds{job=~"$job",managed="true",nodepool=~"$nodepool"})';
const COST = 'max by (nodepool) (karpenter_nodepools_cost_total{job=~"$job",nodepool=~"$nodepool"})';
const LEADS = 'unless on (instance) (leader_election_master_status{job=~"$job"} == 0)';

const OVERVIEW: Dashboard = {
  uid: 'spindrift-overview',
  title: 'Spindrift / Overview',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          title: 'Cost per hour',
          description: 'The price of all nodes of the chosen NodePools, at the prices last heard.',
          ...{ type: 'stat', unit: 'currencyUSD', width: 4 },
          queries: [{ expr: `sum(${COST})` }],
        },
        {
          title: 'Nodes',
          description: 'Nodes that NodePools have made.',
          ...{ type: 'stat', width: 4 },
          queries: [{ expr: `count(${NODES})` }],
        },
        {
          title: 'Spot share',
          description: 'The part of the nodes that is spot.',
          ...{ type: 'stat', unit: 'percentunit', width: 4 },
          queries: [{ expr: `count(${NODES.replace('managed=', 'capacity_type="spot",managed=')}) / count(${NODES})` }],
        },
        {
          title: 'Pending pods',
          description: 'Pods without a node, for whatever reason.',
          ...{ type: 'stat', width: 4 },
          queries: [
            {
              expr: 'count(max by (namespace, exported_namespace, name) (karpenter_pods_unbound_time_seconds{job=~"$job"})) or vector(0)',
            },
          ],
        },
        {
          title: 'Pods without a possible node',
          description: 'Pending pods that no NodePool can make a node for. `spindrift why pod/NAME` says why.',
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
          description: 'What the nodes of each NodePool cost.',
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
          title: 'Requested of what nodes have',
          description: 'What pods ask for, in percent of what all nodes have.',
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
            'What all nodes cost now, after the moves of the latest plan, and the price that no fleet for these pods can go below.',
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
      title: 'What happens',
      panels: [
        {
          title: 'Nodes launched and gone',
          description: 'Claims written per reason, and claims that are gone with their machine, per hour.',
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
          description: 'Claims that Spindrift deleted, per reason and hour.',
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
          description: 'How long pods that a node had to be launched for took to run.',
          ...{ type: 'timeseries', unit: 's' },
          queries: quantiles('karpenter_pods_provisioning_startup_duration_seconds_bucket{job=~"$job"}'),
        },
      ],
    },
  ],
};

const SPOT: Dashboard = {
  uid: 'spindrift-spot',
  title: 'Spindrift / Spot and interruptions',
  rows: [
    {
      title: 'Interruptions',
      panels: [
        {
          title: 'Interruptions by kind',
          description: 'Machines of ours that the cloud takes back or warns about, per hour.',
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
          description: 'Interruptions per spot node and hour in the whole cluster; what is old counts less.',
          type: 'timeseries',
          queries: [
            {
              expr: `max(spindrift_cluster_interruption_rate{job=~"$job"} ${LEADS})`,
              legend: 'per node and hour',
            },
          ],
        },
        {
          title: 'What became of notices',
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
          title: 'From the notice to its end',
          description: 'How long after the cloud sent it a notice was acknowledged.',
          ...{ type: 'timeseries', unit: 's' },
          queries: quantiles('karpenter_interruption_message_queue_duration_seconds_bucket{job=~"$job"}'),
        },
        {
          title: 'Oldest notice in the queue',
          description: 'Of the AWS queue. Above a minute, drains begin late.',
          ...{ type: 'timeseries', unit: 's' },
          queries: [{ expr: 'max(spindrift_interruption_oldest_message_age_seconds{job=~"$job"})', legend: 'age' }],
        },
        {
          title: 'Pods that left nodes',
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
          title: 'Replicas of services that are kept ready',
          description: 'Of services with spindrift.dev/ready-replicas: wanted, ready, on spot and on demand.',
          type: 'timeseries',
          queries: [
            {
              expr: 'max by (name, replicas) (spindrift_services_replicas{job=~"$job"})',
              legend: '{{name}} {{replicas}}',
            },
          ],
        },
        {
          title: 'Answers to evictions',
          description: '429: a PodDisruptionBudget does not allow it now.',
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
      title: 'The market',
      panels: [
        {
          title: 'Riskiest spot pools',
          description: 'Interruptions to expect per node and hour, of the ten riskiest instance types and zones.',
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
          title: 'Offerings that can be launched',
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
          title: 'Launches that failed',
          description: 'Calls of the cloud to launch a machine that failed, per error.',
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
          description: 'Per NodePool and reason, per hour. Any is worth a look.',
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

const CONTROLLER: Dashboard = {
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
          title: 'Time of a plan',
          description: 'How long it took to find places for a batch of pods.',
          ...{ type: 'timeseries', unit: 's' },
          queries: quantiles('karpenter_scheduler_scheduling_duration_seconds_bucket{job=~"$job"}'),
        },
        {
          title: 'Disruption: time to look',
          description: 'How long it took to see what can be disrupted, per reason, on average.',
          ...{ type: 'timeseries', unit: 's' },
          queries: [
            {
              expr: 'sum by (reason) (rate(karpenter_voluntary_disruption_decision_evaluation_duration_seconds_sum{job=~"$job"}[$__rate_interval])) / sum by (reason) (rate(karpenter_voluntary_disruption_decision_evaluation_duration_seconds_count{job=~"$job"}[$__rate_interval]))',
              legend: '{{reason}}',
            },
          ],
        },
        {
          title: 'Nodes that budgets let go',
          description: 'Per NodePool and reason. 0: a disruption budget holds everything back.',
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
          title: 'Reconciles that failed',
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
          title: 'Time of a reconcile',
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
      title: 'Others that it talks to',
      panels: [
        {
          title: 'Requests to the API server',
          description: 'Per answer and second. `error`: none came.',
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
          description: 'How long calls took, the 95th percentile per method.',
          ...{ type: 'timeseries', unit: 's' },
          queries: [
            {
              expr: 'histogram_quantile(0.95, sum by (le, provider, method) (rate(karpenter_cloudprovider_duration_seconds_bucket{job=~"$job"}[$__rate_interval])))',
              legend: '{{provider}} {{method}}',
            },
          ],
        },
        {
          title: 'Calls to clouds that failed',
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

/** All dashboards of the chart. */
export const DASHBOARDS: readonly Dashboard[] = [OVERVIEW, SPOT, CONTROLLER];

function quantiles(buckets: string): Query[] {
  return [0.5, 0.95, 0.99].map((quantile) => ({
    expr: `histogram_quantile(${quantile}, sum by (le) (rate(${buckets}[$__rate_interval])))`,
    legend: `p${quantile * 100}`,
  }));
}

const DATASOURCE = { type: 'prometheus', uid: '$datasource' };
const COLUMNS = 24;
const ROW_HEIGHT = 1;
const PANEL_HEIGHT = 8;
const STAT_HEIGHT = 4;

/** A dashboard as Grafana imports it. */
export function dashboardJson({ uid, title, rows }: Dashboard): string {
  const panels: object[] = [];
  let y = 0;
  for (const row of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: COLUMNS, h: ROW_HEIGHT },
    });
    y += ROW_HEIGHT;
    let x = 0;
    let height = 0;
    for (const panel of row.panels) {
      const w = panel.width ?? COLUMNS / 3;
      if (x + w > COLUMNS) {
        y += height;
        x = 0;
      }
      height = panel.type === 'stat' ? STAT_HEIGHT : PANEL_HEIGHT;
      panels.push(panelJson(panel, panels.length + 1, { x, y, w, h: height }));
      x += w;
    }
    y += height;
  }
  const dashboard = {
    uid,
    title,
    tags: ['spindrift'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: variables() },
    panels,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function panelJson(
  { title, description, type, unit = 'short', stacked, queries }: Panel,
  id: number,
  gridPos: object,
): object {
  const custom = stacked ? { custom: { stacking: { mode: 'normal', group: 'A' }, fillOpacity: 20 } } : {};
  return {
    id,
    type,
    title,
    description,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0, ...(type === 'timeseries' ? custom : {}) }, overrides: [] },
    options: {},
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr,
      ...(legend === undefined ? {} : { legendFormat: legend }),
      ...(type === 'timeseries' ? {} : { instant: true, format: type === 'table' ? 'table' : 'time_series' }),
    })),
  };
}

function variables(): object[] {
  const ofLabel = (name: string, label: string, metric: string): object => ({
    name,
    label: name,
    type: 'query',
    datasource: DATASOURCE,
    query: { query: `label_values(${metric}, ${label})`, refId: name },
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  });
  return [
    { name: 'datasource', label: 'datasource', type: 'datasource', query: 'prometheus', current: {} },
    ofLabel('job', 'job', 'karpenter_build_info'),
    ofLabel('nodepool', 'nodepool', 'karpenter_nodepools_cost_total{job=~"$job"}'),
  ];
}
