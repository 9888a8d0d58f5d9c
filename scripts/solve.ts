/**
 * Solves one problem file and prints what came of it as one line of JSON:
 * `npm run -s solve -- PROBLEM.json[.gz] [--quality fast|balanced] [--deadline-ms N] [--runs N] [--cold] [--out SOLUTION.json]`
 * The engine is warmed up first on a problem of its own, as a controller does when it starts; `--cold` leaves that out, and
 * the time of a first solve then includes the compilation of the engine. With `--runs` the time is the median of that many.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readProblemFile } from '../bench/format/problem-file.ts';
import { toProblem, toSolutionFile } from '../bench/format/to-problem.ts';
import { measureSolve, peakRssMb } from '../bench/measure.ts';
import { median } from '../bench/statistics.ts';
import type { Quality } from '../src/engine/problem.ts';
import { verify } from '../src/engine/verify/verify.ts';
import { warmUp } from '../src/engine/warm-up.ts';

interface Arguments {
  readonly problem: string;
  readonly quality: Quality;
  readonly deadlineMs: number;
  readonly runs: number;
  readonly cold: boolean;
  readonly out: string | undefined;
}

function readArguments(): Arguments {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quality: { type: 'string' },
      'deadline-ms': { type: 'string' },
      runs: { type: 'string' },
      cold: { type: 'boolean' },
      out: { type: 'string' },
    },
  });
  const [problem, ...rest] = positionals;
  if (problem === undefined || rest.length > 0) throw new Error('name exactly one problem file');
  const quality = values.quality ?? 'balanced';
  if (quality !== 'fast' && quality !== 'balanced')
    throw new Error(`--quality is ${quality}, but it must be fast or balanced`);
  const deadlineMs = Number(values['deadline-ms'] ?? 1000);
  if (!(deadlineMs > 0 && Number.isFinite(deadlineMs))) {
    throw new Error(`--deadline-ms is ${values['deadline-ms']}, but it must be a number above 0`);
  }
  const runs = Number(values.runs ?? 1);
  if (!(Number.isInteger(runs) && runs > 0))
    throw new Error(`--runs is ${values.runs}, but it must be a whole number above 0`);
  return { problem, quality, deadlineMs, runs, cold: values.cold ?? false, out: values.out };
}

function run(): void {
  const { problem: path, quality, deadlineMs, runs, cold, out } = readArguments();
  const problem = toProblem(readProblemFile(path));
  if (!cold) warmUp();
  const first = measureSolve(problem, quality, deadlineMs);
  const rest = Array.from({ length: runs - 1 }, () => measureSolve(problem, quality, deadlineMs));
  const solution = first.answer;
  const solveMs = median([first, ...rest].map(({ ms }) => ms));
  const peak = peakRssMb();
  if (out !== undefined) writeFileSync(out, JSON.stringify(toSolutionFile(solution)));
  const violations = verify(problem, solution);
  for (const { rule, subject, detail } of violations.slice(0, 10)) console.error(`${rule}: ${subject}: ${detail}`);
  if (violations.length > 0) process.exitCode = 1;
  const pods = problem.pods.reduce((sum, group) => sum + (group.count ?? 1), 0);
  console.log(
    JSON.stringify({
      pods,
      placed: solution.order.length,
      nodes: solution.newNodes.length,
      cost: rounded(solution.price, 5),
      lowerBound: rounded(solution.lowerBound, 5),
      solveMs: rounded(solveMs, 1),
      podsPerSecond: Math.round((pods / solveMs) * 1000),
      peakRssMb: Math.round(peak),
      verified: violations.length === 0,
      warm: !cold,
    }),
  );
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

try {
  run();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
