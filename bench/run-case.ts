/** Measures one case in a process of its own and prints the result as one line of JSON: `run-case.ts ID RUNS [FOLDER]`. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fleet } from '../src/engine/consolidation/fleet.ts';
import type { Problem, Quality } from '../src/engine/problem.ts';
import { verify } from '../src/engine/verify/verify.ts';
import { verifyConsolidation } from '../src/engine/verify/verify-consolidation.ts';
import type { Violation } from '../src/engine/verify/violation.ts';
import { warmUp } from '../src/engine/warm-up.ts';
import { fluidBounds } from './bounds/fluid-bound.ts';
import type { CaseResult } from './case-result.ts';
import { fileCases, generatedCases, idOf } from './families.ts';
import { toSolutionFile } from './format/to-problem.ts';
import { type Measurement, measureConsolidation, measureSolve, peakRssMb } from './measure.ts';
import { settleFleet } from './settle-fleet.ts';
import { median } from './statistics.ts';

const DEADLINE_MS = 1000;

function measureCase(id: string, runs: number, folder: string, checker: string): CaseResult {
  const cases = folder === '' ? generatedCases() : fileCases(folder);
  const found = cases.find((one) => idOf(one) === id);
  if (found === undefined) throw new Error(`there is no case ${id}`);
  const { family, name, quality, growth, recipe, question } = found;
  return {
    family,
    name,
    quality,
    ...(growth === undefined ? {} : { growth }),
    ...(recipe === undefined ? {} : { recipe }),
    ...(found.fluid === true && 'problem' in question ? { fluid: fluidBounds(question.problem()) } : {}),
    ...('fleet' in found.question
      ? measureFleet(found.question.fleet(), runs)
      : measureProblem(found.question.problem(), quality, runs, checker === '' ? undefined : found.file, checker)),
  };
}

type Figures = Omit<CaseResult, 'family' | 'name' | 'quality' | 'growth' | 'recipe' | 'fluid'>;

function measureProblem(
  problem: Problem,
  quality: Quality,
  runs: number,
  file: string | undefined,
  checker: string,
): Figures {
  const prices: number[] = [];
  const { answer: solution, ...times } = timesOf(runs, () => {
    const measurement = measureSolve(problem, quality, DEADLINE_MS);
    prices.push(measurement.answer.price);
    return measurement;
  });
  return {
    ...times,
    // The first run is the cold one.
    prices: prices.slice(1),
    pods: problem.pods.reduce((sum, group) => sum + (group.count ?? 1), 0),
    types: problem.instanceTypes.length,
    pools: problem.pools.length,
    placed: solution.order.length,
    nodes: solution.newNodes.length,
    price: solution.price,
    lowerBound: solution.lowerBound,
    detail: { ...solution.phases },
    ...judged(verify(problem, solution)),
    ...(file === undefined ? {} : { accepted: isAccepted(checker, file, toSolutionFile(solution)) }),
  };
}

function measureFleet(fleet: Fleet, runs: number): Figures {
  const { answer: plan, ...times } = timesOf(runs, () => measureConsolidation(fleet));
  const { priceBefore, evictions, moves } = plan;
  const ended = moves.reduce((sum, move) => sum + move.nodes.length, 0);
  const launched = moves.reduce((sum, move) => sum + move.newNodes.length, 0);
  const settled = settleFleet(fleet, plan);
  return {
    ...times,
    pods: fleet.pods.length,
    types: fleet.instanceTypes.length,
    pools: fleet.pools.length,
    placed: fleet.pods.length,
    nodes: fleet.nodes.length - ended + launched,
    price: plan.priceAfter,
    lowerBound: plan.lowerBound,
    detail: {
      nodesBefore: fleet.nodes.length,
      priceBefore,
      evictions,
      moves: moves.length,
      ended,
      launched,
      rounds: settled.rounds,
      settledPrice: settled.price,
      settledBound: settled.lowerBound,
      settledEvictions: settled.evictions,
    },
    ...judged(verifyConsolidation(fleet, plan)),
  };
}

function timesOf<Answer>(runs: number, measure: () => Measurement<Answer>) {
  const cold = measure();
  warmUp();
  const measurements = Array.from({ length: runs }, measure);
  const times = measurements.map(({ ms }) => ms);
  // The deadline makes runs differ; the answer of the median run is the one that is shown.
  const middle = median(times.length % 2 === 1 ? times : times.slice(1));
  const shown = measurements.find(({ ms }) => ms === middle) ?? (measurements[0] as Measurement<Answer>);
  return {
    answer: shown.answer,
    coldMs: cold.ms,
    medianMs: middle,
    cpuMs: median(measurements.map(({ cpuMs }) => cpuMs)),
    longestSliceMs: median(measurements.map(({ longestSliceMs }) => longestSliceMs)),
    peakRssMb: peakRssMb(),
  };
}

function judged(violations: readonly Violation[]): Pick<CaseResult, 'violations' | 'violationCount'> {
  return { violations: violations.slice(0, 5), violationCount: violations.length };
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
console.log(JSON.stringify(measureCase(id, Number(runs), folder, checker)));
