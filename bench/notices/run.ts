/** Measures a storm of notices: `npm run bench -- notices`. Prints a table and writes bench/results/notices.json. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inItsOwnProcess } from '../in-its-own-process.ts';
import { table } from '../report/table.ts';
import { median } from '../statistics.ts';
import type { StormResult } from './notice-storm.ts';

/** Of the storm without pods; the other one takes long. */
const RUNS = 3;
const MACHINES = 15_000;
const here = dirname(fileURLToPath(import.meta.url));

/** Without pods, and with one on each node, which provisioning has to find other places for meanwhile. */
export function runNotices(): void {
  const rows = [0, 1].flatMap((pods) => {
    const runs = Array.from({ length: pods === 0 ? RUNS : 1 }, () =>
      inItsOwnProcess<StormResult>(join(here, 'run-case.ts'), MACHINES, pods),
    );
    const of = (figure: (result: StormResult) => number): number => median(runs.map(figure));
    const name = `${MACHINES.toLocaleString('en')} notices at once, ${pods} pods a node`;
    const one = pods === 0;
    return [
      { what: `${name}: handled`, value: of(({ handled }) => handled), unit: 's', aim: '< 5 s' },
      { what: `${name}: processor time of that`, value: of(({ handledCpu }) => handledCpu), unit: 's', aim: '' },
      ...(one
        ? []
        : [{ what: `${name}: claims written`, value: of(({ covered = 0 }) => covered), unit: 's', aim: '' }]),
      {
        what: `${name}: memory at most`,
        value: of(({ memoryPeak }) => memoryPeak),
        unit: 'MB',
        aim: one ? '< 300 MB' : '',
      },
      { what: `${name}: of that before`, value: of(({ memoryBefore }) => memoryBefore), unit: 'MB', aim: '' },
      { what: `${name}: longest block`, value: of(({ longestBlock }) => longestBlock), unit: 'ms', aim: '' },
    ];
  });
  console.log(
    table(
      ['notices', 'median', 'aim'],
      rows.map(({ what, value, unit, aim }) => [what, `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`, aim]),
    ),
  );
  const folder = join(here, '..', 'results');
  mkdirSync(folder, { recursive: true });
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  writeFileSync(join(folder, 'notices.json'), `${JSON.stringify({ machine, rows }, null, 2)}\n`);
}
