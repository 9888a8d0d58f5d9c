/** Parts of queries that several dashboards use. */
import type { Query } from './dashboard.ts';

/** Appended to an expression, leaves out replicas that do not lead. */
export const LEADS = 'unless on (instance) (leader_election_master_status{job=~"$job"} == 0)';

/** The 50th, 95th and 99th percentile of a histogram, by its buckets. */
export function quantiles(buckets: string): Query[] {
  return [0.5, 0.95, 0.99].map((quantile) => ({
    expr: `histogram_quantile(${quantile}, sum by (le) (rate(${buckets}[$__rate_interval])))`,
    legend: `p${quantile * 100}`,
  }));
}
