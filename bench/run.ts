/**
 * Runs the benchmark: `npm run bench [-- FAMILY...] [--runs N] [--problems DIR] [--checker COMMAND]`. Prints a table, and
 * writes the figures and two plots into bench/results/. `npm run bench -- embedded` measures the embedded cluster instead,
 * `npm run bench -- end-to-end` the autoscaler on a real control plane, `embedded-provisioning` on the embedded one,
 * `aws` it and Karpenter on an AWS account on loopback, `queue` interruption messages from a real queue server,
 * `notices` a storm of notices, `falling-load` a fleet that loses half of its load, `shrinking` what it costs to move fewer pods then, `runaway` what nodes cost that do not help,
 * `sizing` what the autoscaler needs for clusters of some sizes.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runAws } from './aws/run.ts';
import type { CaseResult } from './case-result.ts';
import { runEmbedded } from './embedded/run.ts';
import { runEmbeddedProvisioning } from './end-to-end/embedded.ts';
import { runEndToEnd } from './end-to-end/run.ts';
import { runFallingLoad } from './falling-load/run.ts';
import { type BenchCase, fileCases, generatedCases, idOf } from './families.ts';
import { runNotices } from './notices/run.ts';
import { runQueue } from './queue/run.ts';
import { consolidationTable } from './report/consolidation-table.ts';
import { fluidTable } from './report/fluid-table.ts';
import { growthOf, plotsOf, tableOf } from './report/report.ts';
import { table } from './report/table.ts';
import { runRunaway } from './runaway/run.ts';
import { runShrinking } from './shrinking/run.ts';
import { runSizing } from './sizing/run.ts';

const here = dirname(fileURLToPath(import.meta.url));

async function run(): Promise<void> {
  if (process.argv[2] === 'end-to-end') return await runEndToEnd(process.argv.slice(3));
  if (process.argv[2] === 'aws') return await runAws(process.argv.slice(3));
  if (process.argv[2] === 'queue') return await runQueue(process.argv.slice(3));
  if (process.argv[2] === 'falling-load') return await runFallingLoad(process.argv.slice(3));
  if (process.argv[2] === 'runaway') return await runRunaway();
  if (process.argv[2] === 'shrinking') return await runShrinking(process.argv.slice(3));
  if (process.argv[2] === 'sizing') return await runSizing(process.argv.slice(3));
  if (process.argv[2] === 'embedded-provisioning') return await runEmbeddedProvisioning();
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { runs: { type: 'string' }, problems: { type: 'string' }, checker: { type: 'string' } },
  });
  if (positionals[0] === 'embedded') {
    runEmbedded();
    return;
  }
  if (positionals[0] === 'notices') {
    runNotices();
    return;
  }
  const runs = Number(values.runs ?? 5);
  if (!(Number.isInteger(runs) && runs > 0))
    throw new Error(`--runs is ${values.runs}, but it must be a whole number above 0`);
  const folder = values.problems ?? process.env.SPINDRIFT_BENCH_PROBLEMS ?? '';
  const cases = [...generatedCases(), ...(folder === '' ? [] : fileCases(folder))];
  const families = new Set(cases.map(({ family }) => family));
  for (const name of positionals) {
    if (!families.has(name)) throw new Error(`${name} is not a family; there are ${[...families].join(', ')}`);
  }
  const chosen = positionals.length === 0 ? cases : cases.filter(({ family }) => positionals.includes(family));

  const results = chosen.map((one) => {
    const result = measureApart(one, runs, folder, values.checker ?? '');
    console.error(`${idOf(one)}: ${result.medianMs.toFixed(0)} ms, ${result.violationCount} violations`);
    return result;
  });
  report(results, runs);
  if (results.some(({ violationCount, accepted }) => violationCount > 0 || accepted === false)) process.exitCode = 1;
}

/** Measures a case in a process of its own. */
function measureApart(one: BenchCase, runs: number, folder: string, checker: string): CaseResult {
  const args = [join(here, 'run-case.ts'), idOf(one), String(runs), one.file === undefined ? '' : folder, checker];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 26 })) as CaseResult;
}

function report(results: readonly CaseResult[], runs: number): void {
  const growth = growthOf(results);
  console.log(`\n${tableOf(results)}`);
  const consolidation = consolidationTable(results);
  if (consolidation !== '') console.log(`\n${consolidation}`);
  const fluid = fluidTable(results);
  if (fluid !== '') console.log(`\n${fluid}`);
  if (growth.length > 0) {
    console.log(
      `\n${table(
        ['time grows with', 'exponent'],
        growth.map(({ over, exponent }) => [over, exponent.toFixed(2)]),
      )}`,
    );
  }
  const folder = join(here, 'results');
  mkdirSync(folder, { recursive: true });
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify({ machine, runs, results, growth }, null, 2)}\n`);
  for (const { name, svg } of plotsOf(results)) writeFileSync(join(folder, name), svg);
}

try {
  await run();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
