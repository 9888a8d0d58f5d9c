/** The alerts and dashboards in the chart's files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHART } from './chart-files.ts';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** The file as promtool reads it. */
export const ALERTS_FILE = join(CHART, 'alerts', 'spindrift.yaml');

export function readAlerts(): AlertRule[] {
  const { groups } = parse(readFileSync(ALERTS_FILE, 'utf8')) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

export interface DashboardQuery {
  readonly dashboard: string;
  readonly panel: string;
  /** With Grafana's variables removed. */
  readonly expr: string;
}

interface DashboardFile {
  readonly title: string;
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

/** The Prometheus queries of all dashboards. */
export function readDashboardQueries(): DashboardQuery[] {
  const folder = join(CHART, 'dashboards');
  return readdirSync(folder).flatMap((file) => {
    const { title: dashboard, panels } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as DashboardFile;
    return panels.flatMap(({ title: panel, targets = [] }) =>
      targets.map(({ expr }) => ({ dashboard, panel, expr: withoutVariables(expr) })),
    );
  });
}

function withoutVariables(expression: string): string {
  return expression.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*').replaceAll('$nodepool', '.*');
}
