/**
 * Karpenter and Spindrift side by side on the AWS ground, with the same load, prices and control plane:
 * `npm run bench -- aws [--load 1000|3000] [--runs N] [--only karpenter|spindrift]`; with `--figures` the driver alone.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { whyAwsKubernetesUnavailable } from '../../test/aws/availability.ts';
import { LOADS } from '../end-to-end/load.ts';
import { table } from '../report/table.ts';
import { runAwsFigures } from './figures.ts';
import { type AwsOutcome, measureAws } from './measure-aws.ts';

/** Runs with the arguments after the command. */
export async function runAws(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      load: { type: 'string', default: '1000' },
      runs: { type: 'string', default: '1' },
      only: { type: 'string' },
      figures: { type: 'boolean', default: false },
    },
  });
  if (values.figures) return await runAwsFigures();
  const unavailable = whyAwsKubernetesUnavailable();
  if (unavailable !== undefined) throw new Error(unavailable);
  const load = LOADS.find(({ name }) => name === values.load);
  if (load === undefined) throw new Error(`--load is ${values.load}, but the loads are 1000 and 3000`);
  const names = (['karpenter', 'spindrift'] as const).filter(
    (name) => values.only === undefined || name === values.only,
  );
  const outcomes: AwsOutcome[] = [];
  for (let round = 0; round < Number(values.runs); round++) {
    for (const name of names) {
      const outcome = await measureAws(name, load);
      outcomes.push(outcome);
      console.error(JSON.stringify(outcome));
    }
  }
  console.log(outcomeTable(outcomes));
  const results = join(import.meta.dirname, '..', 'results');
  mkdirSync(results, { recursive: true });
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  writeFileSync(join(results, 'aws.json'), `${JSON.stringify({ machine, outcomes }, null, 2)}\n`);
}

function outcomeTable(outcomes: readonly AwsOutcome[]): string {
  const columns = [
    'autoscaler',
    'pods',
    'ready s',
    's',
    'nodes',
    '$/h',
    'bound',
    'over',
    'CPU s',
    'peak MB',
    'fleets',
    'AWS calls',
  ];
  return table(
    columns,
    outcomes.map((outcome) => [
      outcome.autoscaler,
      String(outcome.pods),
      outcome.readySeconds.toFixed(1),
      outcome.seconds.toFixed(1),
      String(outcome.nodes),
      outcome.usdPerHour.toFixed(2),
      outcome.lowerBound.toFixed(2),
      `+${((outcome.usdPerHour / outcome.lowerBound - 1) * 100).toFixed(1)} %`,
      outcome.cpuSeconds.toFixed(1),
      outcome.peakRssMb.toFixed(0),
      String(outcome.fleetCalls),
      String(outcome.awsCalls),
    ]),
  );
}
