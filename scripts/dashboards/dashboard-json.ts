/** What is written has the types that Grafana publishes, so that the type check refuses a field that Grafana does not know. */
import type {
  DataSourceRef,
  Dashboard as GrafanaDashboard,
  Panel as GrafanaPanel,
  RowPanel,
  VariableModel,
} from '@grafana/schema';
import type { Dashboard, Panel } from './dashboard.ts';

const DATASOURCE: DataSourceRef = { type: 'prometheus', uid: '$datasource' };
const COLUMNS = 24;
const ROW_HEIGHT = 1;
const PANEL_HEIGHT = 8;
const STAT_HEIGHT = 4;

/** A dashboard as Grafana imports it. */
export function dashboardJson({ uid, title, rows }: Dashboard): string {
  const panels: (GrafanaPanel | RowPanel)[] = [];
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
  const dashboard: GrafanaDashboard = {
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
  gridPos: NonNullable<GrafanaPanel['gridPos']>,
): GrafanaPanel {
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

function variables(): VariableModel[] {
  const ofLabel = (name: string, label: string, metric: string): VariableModel => ({
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
    { name: 'datasource', label: 'datasource', type: 'datasource', query: 'prometheus' },
    ofLabel('job', 'job', 'karpenter_build_info'),
    ofLabel('nodepool', 'nodepool', 'karpenter_nodepools_cost_total{job=~"$job"}'),
  ];
}
