/**
 * `npm run bench -- shrinking [--pods N] [--left N] [--runs N]`: a fleet for 3,000 pods of which 600 are left, in virtual time, with several
 * prices for the move of a pod. The same on every machine.
 */
import { parseArgs } from 'node:util';
import { table } from '../report/table.ts';
import { type Shrunk, shrink } from './shrink.ts';

const MOVE_PRICES = [0, 0.1, 0.5];

export async function runShrinking(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { pods: { type: 'string' }, left: { type: 'string' }, runs: { type: 'string' } },
  });
  const [pods, left, runs] = [values.pods ?? 3000, values.left ?? 600, values.runs ?? 5].map(Number) as number[];
  const rows: string[][] = [];
  for (const movePrice of MOVE_PRICES) {
    const results: Shrunk[] = [];
    for (let run = 1; run <= (runs as number); run++) {
      results.push(await shrink(pods as number, left as number, `${run}`, movePrice));
    }
    rows.push([
      `${movePrice}`,
      listOf(results, ({ seconds }) => `${seconds}`),
      listOf(results, ({ nodes }) => `${nodes}`),
      listOf(results, ({ usdPerHour, lowerBound }) => `+${(100 * (usdPerHour / lowerBound - 1)).toFixed(1)} %`),
      listOf(results, ({ movedPods }) => `${movedPods}`),
      listOf(results, ({ moves }) => `${moves}`),
    ]);
  }
  console.log(table(['move price', 'until the last move, s', 'nodes', 'over bound', 'pods moved', 'moves'], rows));
}

function listOf(results: readonly Shrunk[], figure: (result: Shrunk) => string): string {
  return results.map(figure).join(', ');
}
