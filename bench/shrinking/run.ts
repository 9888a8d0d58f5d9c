/**
 * `npm run bench -- shrinking [--pods N] [--left N] [--runs N]`: a fleet for 3,000 pods of which 600 are left, in virtual time, with several
 * prices for the move of a pod, and with a few pods that are made anew just before nodes may be consolidated. The same on every machine.
 */
import { parseArgs } from 'node:util';
import { table } from '../report/table.ts';
import { type Shrunk, shrink } from './shrink.ts';

const CASES = [
  { movePrice: 0, restarted: 0 },
  { movePrice: 0.1, restarted: 0 },
  { movePrice: 0.5, restarted: 0 },
  { movePrice: 0.1, restarted: 1 },
  { movePrice: 0.1, restarted: 2 },
  { movePrice: 0.1, restarted: 5 },
];

export async function runShrinking(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { pods: { type: 'string' }, left: { type: 'string' }, runs: { type: 'string' } },
  });
  const [pods, left, runs] = [values.pods ?? 3000, values.left ?? 600, values.runs ?? 5].map(Number) as number[];
  const rows: string[][] = [];
  for (const { movePrice, restarted } of CASES) {
    const results: Shrunk[] = [];
    for (let run = 1; run <= (runs as number); run++) {
      results.push(
        await shrink({ before: pods as number, after: left as number, seed: `${run}`, movePrice, restarted }),
      );
    }
    rows.push([
      `${movePrice}`,
      `${restarted}`,
      listOf(results, ({ seconds }) => `${seconds}`),
      listOf(results, ({ nodes }) => `${nodes}`),
      listOf(results, ({ usdPerHour, lowerBound }) => `+${(100 * (usdPerHour / lowerBound - 1)).toFixed(1)} %`),
      listOf(results, ({ movedPods }) => `${movedPods}`),
      listOf(results, ({ moves }) => `${moves}`),
    ]);
  }
  console.log(
    table(
      ['move price', 'pods made anew', 'until the last move, s', 'nodes', 'over bound', 'pods moved', 'moves'],
      rows,
    ),
  );
}

function listOf(results: readonly Shrunk[], figure: (result: Shrunk) => string): string {
  return results.map(figure).join(', ');
}
