/** Measures the embedded cluster: `npm run bench -- embedded`. Prints a table and writes bench/results/embedded.json. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { table } from '../report/table.ts';
import { median } from '../statistics.ts';
import { CASES, type Measurement } from './cases.ts';

const RUNS = 3;

/** Runs every case several times in processes of their own and takes the median of each figure. */
export function runEmbedded(): void {
  const rows = Object.keys(CASES).flatMap((name) => {
    const runs = Array.from({ length: RUNS }, () => inItsOwnProcess(name));
    const first = runs[0] ?? [];
    return first.map((one, index) => ({ ...one, value: median(runs.map((run) => run[index]?.value ?? Number.NaN)) }));
  });
  console.log(
    table(
      ['embedded cluster', 'median of 3', 'aim'],
      rows.map(({ what, value, unit, aim }) => [what, `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`, aim ?? '']),
    ),
  );
  const folder = join(dirname(fileURLToPath(import.meta.url)), '..', 'results');
  mkdirSync(folder, { recursive: true });
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  writeFileSync(join(folder, 'embedded.json'), `${JSON.stringify({ machine, rows }, null, 2)}\n`);
}

function inItsOwnProcess(name: string): Measurement[] {
  const file = fileURLToPath(new URL('./run-case.ts', import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, ['--max-semi-space-size=8', file, name], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`the case ${name} failed`);
  return JSON.parse(stdout) as Measurement[];
}
