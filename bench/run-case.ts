/** Measures one case in a process of its own and prints the result as one line of JSON: `run-case.ts ID RUNS [FOLDER]`. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verify } from '../src/engine/verify/verify.ts';
import type { CaseResult } from './case-result.ts';
import { fileCases, generatedCases, idOf } from './families.ts';
import { toSolutionFile } from './format/to-problem.ts';
import { measureSolve, peakRssMb } from './measure.ts';
import { median } from './statistics.ts';

const DEADLINE_MS = 1000;

function measure(id: string, runs: number, folder: string, checker: string): CaseResult {
  const cases = folder === '' ? generatedCases() : fileCases(folder);
  const found = cases.find((one) => idOf(one) === id);
  if (found === undefined) throw new Error(`there is no case ${id}`);
  const problem = found.problem();
  const measurements = Array.from({ length: runs }, () => measureSolve(problem, found.quality, DEADLINE_MS));
  const times = measurements.map(({ solveMs }) => solveMs);
  // The deadline makes balanced runs differ; the plan of the median run is the one that is shown.
  const middle = median(times.length % 2 === 1 ? times : times.slice(1));
  const { solution } =
    measurements.find(({ solveMs }) => solveMs === middle) ?? (measurements[0] as (typeof measurements)[0]);
  const rss = peakRssMb();
  const violations = verify(problem, solution);
  const pods = problem.pods.reduce((sum, group) => sum + (group.count ?? 1), 0);
  return {
    family: found.family,
    name: found.name,
    quality: found.quality,
    pods,
    types: problem.instanceTypes.length,
    pools: problem.pools.length,
    placed: solution.order.length,
    nodes: solution.newNodes.length,
    price: solution.price,
    lowerBound: solution.lowerBound,
    coldMs: times[0] ?? Number.NaN,
    medianMs: middle,
    peakRssMb: rss,
    phases: solution.phases,
    violations: violations.slice(0, 5),
    violationCount: violations.length,
    ...(checker === '' || found.file === undefined
      ? {}
      : { accepted: isAccepted(checker, found.file, toSolutionFile(solution)) }),
    ...(found.growth === undefined ? {} : { growth: found.growth }),
    ...(found.recipe === undefined ? {} : { recipe: found.recipe }),
  };
}

/** Asks an independent checker: a command that is given the problem file and the solution file. */
function isAccepted(checker: string, file: string, solution: object): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    const path = join(folder, 'solution.json');
    writeFileSync(path, JSON.stringify(solution));
    const [command = '', ...options] = checker.split(' ');
    return spawnSync(command, [...options, file, path]).status === 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const [id = '', runs = '5', folder = '', checker = ''] = process.argv.slice(2);
console.log(JSON.stringify(measure(id, Number(runs), folder, checker)));
