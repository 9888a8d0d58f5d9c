/** Runs `spindrift plan --consolidate`: reads the cluster once, plans, and returns the text to print. Changes nothing. */
import { stringify } from 'yaml';
import { type ClusterChoice, withWatchedCluster } from '../live-cluster.ts';
import { liveOutlook, UNKNOWN } from '../outlook/live-outlook.ts';
import { consolidationReport } from './consolidation-report.ts';
import { consolidationTable } from './consolidation-table.ts';

/** Options of `spindrift plan --consolidate`. */
export interface ConsolidateOptions extends ClusterChoice {
  readonly seconds: number;
  readonly output: 'table' | 'json' | 'yaml';
}

/** Returns the text to print. */
export function planConsolidation(options: ConsolidateOptions, signal: AbortSignal): Promise<string> {
  return withWatchedCluster(options, signal, async (cluster) => {
    const { clock } = cluster;
    const startedAt = clock.elapsed();
    const limits = { deadlineMs: options.seconds * 1000, elapsedMs: () => clock.elapsed() - startedAt };
    const found = await liveOutlook(cluster, limits, signal);
    const report = consolidationReport(found, found.moves.length === 0 ? found.notes : [...found.notes, UNKNOWN]);
    if (options.output === 'json') return `${JSON.stringify(report, null, 2)}\n`;
    return options.output === 'yaml' ? stringify(report) : consolidationTable(report);
  });
}
