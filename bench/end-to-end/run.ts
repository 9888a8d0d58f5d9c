/**
 * Measures provisioning and consolidation from end to end, on a real control plane: `npm run bench -- end-to-end`.
 * Options: `--with karpenter` also runs Karpenter, after Spindrift and on a control plane of its own; `--without spindrift`; `--load 1000|3000` one load only;
 * `--runs N`; `--no-scale-down` without the second phase; `--keep DIR` keeps the logs of the autoscalers and profiles of
 * Spindrift's processor time.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { whyUnavailable } from '../../test/kubernetes/harness/availability.ts';
import { ensureKarpenter } from '../../test/kubernetes/peers/karpenter.ts';
import { type Autoscaler, karpenter, spindrift } from './autoscaler.ts';
import { karpenterSource, karpenterTypes } from './karpenter-module.ts';
import { LOADS } from './load.ts';
import { measure } from './measure.ts';
import type { Outcome } from './outcome.ts';
import { outcomeTable } from './outcome-table.ts';

/** Runs with the arguments after the command. */
export async function runEndToEnd(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      with: { type: 'string' },
      without: { type: 'string' },
      load: { type: 'string' },
      runs: { type: 'string', default: '1' },
      keep: { type: 'string' },
      'no-scale-down': { type: 'boolean', default: false },
    },
  });
  const unavailable = whyUnavailable();
  if (unavailable !== undefined) throw new Error(unavailable);
  const loads = LOADS.filter(({ name }) => values.load === undefined || name === values.load);
  if (loads.length === 0) throw new Error(`--load is ${values.load}, but the loads are 1000 and 3000`);
  const source = karpenterSource();
  const types = karpenterTypes(source);
  const folder = mkdtempSync(join(tmpdir(), 'spindrift-end-to-end-'));
  const outcomes: Outcome[] = [];
  try {
    const catalogFile = join(folder, 'instance-types.json');
    writeFileSync(catalogFile, JSON.stringify({ InstanceTypes: types }));
    const profile = values.keep === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.keep}`];
    const autoscalers: Autoscaler[] = values.without === 'spindrift' ? [] : [spindrift(catalogFile, profile)];
    if (values.with === 'karpenter') autoscalers.push(karpenter(source, (await ensureKarpenter()).controller));
    for (let round = 0; round < Number(values.runs); round++) {
      for (const load of loads) {
        for (const autoscaler of autoscalers) {
          const outcome = await measure({
            autoscaler,
            load,
            types,
            scaleDown: !values['no-scale-down'],
            logs: values.keep,
          });
          outcomes.push(outcome);
          console.error(JSON.stringify(outcome));
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(outcomeTable(outcomes));
  const results = join(import.meta.dirname, '..', 'results');
  mkdirSync(results, { recursive: true });
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  writeFileSync(join(results, 'end-to-end.json'), `${JSON.stringify({ machine, outcomes }, null, 2)}\n`);
}
