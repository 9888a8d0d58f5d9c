/** Dashboards for Grafana, as tables of panels; `npm run gen` writes them as JSON into the chart. */

/** One curve or figure: what Prometheus is asked, and the legend of each series. */
export interface Query {
  readonly expr: string;
  readonly legend?: string;
}

/** One panel: its words and its queries; its place follows from the order. */
export interface Panel {
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

/** A dashboard as a table of panels. */
export interface Dashboard {
  /** Names the file, and the dashboard in addresses. */
  readonly uid: string;
  readonly title: string;
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
}
