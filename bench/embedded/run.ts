/** Measures the embedded cluster: `npm run bench -- embedded`. Prints a table and writes bench/results/embedded.json. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { inItsOwnProcess } from '../in-its-own-process.ts';
import { table } from '../report/table.ts';
import { median } from '../statistics.ts';
import { CASES, type Measurement } from './cases.ts';

const here = import.meta.dirname;
const RUNS = 3;

/** Runs every case several times in processes of their own and takes the median of each figure. */
export function runEmbedded(): void {
  const rows = Object.keys(CASES).flatMap((name) => {
    const runs = Array.from({ length: RUNS }, () => inItsOwnProcess<Measurement[]>(join(here, 'run-case.ts'), name));
    const first = runs[0] ?? [];
    return first.map((one, index) => ({ ...one, value: median(runs.map((run) => run[index]?.value ?? Number.NaN)) }));
  });
  console.log(
    table(
      ['embedded cluster', 'median of 3', 'aim'],
      rows.map(({ what, value, unit, aim }) => [what, `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`, aim ?? '']),
    ),
  );
  const folder = join(here, '..', 'results');
  mkdirSync(folder, { recursive: true });
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  writeFileSync(join(folder, 'embedded.json'), `${JSON.stringify({ machine, rows }, null, 2)}\n`);
}
