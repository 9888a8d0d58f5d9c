/** Everything `spindrift plan --consolidate` does: reads the cluster once, plans, and gives what to print. It changes nothing. */
import { stringify } from 'yaml';
import { consolidate } from '../../engine/consolidation/consolidate.ts';
import { buildFleet } from '../../state/build-fleet.ts';
import { type ClusterChoice, withWatchedCluster } from '../live-cluster.ts';
import { fleetSnapshotOf } from '../live-snapshot.ts';
import { consolidationReport } from './consolidation-report.ts';
import { consolidationTable } from './consolidation-table.ts';

/** What `spindrift plan --consolidate` is asked for. */
export interface ConsolidateOptions extends ClusterChoice {
  readonly seconds: number;
  readonly output: 'table' | 'json' | 'yaml';
}

/** What to print. */
export function planConsolidation(options: ConsolidateOptions, signal: AbortSignal): Promise<string> {
  return withWatchedCluster(options, signal, async (cluster) => {
    const { clock } = cluster;
    const { snapshot, unusable } = fleetSnapshotOf(cluster);
    const built = buildFleet(snapshot);
    const startedAt = clock.elapsed();
    const plan = consolidate(built.fleet, {
      evictInTurns: true,
      deadlineMs: options.seconds * 1000,
      elapsedMs: () => clock.elapsed() - startedAt,
    });
    const notes = unusable.map(({ pool, problem }) => `pool ${pool} ${problem}`);
    const report = consolidationReport(plan, built, notes);
    if (options.output === 'json') return `${JSON.stringify(report, null, 2)}\n`;
    return options.output === 'yaml' ? stringify(report) : consolidationTable(report);
  });
}
