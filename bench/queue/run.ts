/**
 * Interruption messages from a real queue server: `npm run bench -- queue [--with karpenter] [--counts 100,1000]`. Mixed
 * messages of a fleet, until each is gone and each pod has a new place; and with Karpenter, messages about machines of others for
 * both controllers on a real control plane.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../report/table.ts';
import { type ForeignOutcome, measureForeign } from './measure-foreign.ts';
import { type MixedOutcome, measureMixed } from './measure-mixed.ts';
import { QueueServer } from './queue-server.ts';

/** Runs with the arguments after the command. */
export async function runQueue(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      with: { type: 'string' },
      counts: { type: 'string', default: '100,1000,5000,15000' },
      'no-mixed': { type: 'boolean', default: false },
    },
  });
  const counts = values.counts.split(',').map(Number);
  const server = await QueueServer.start();
  const mixed: MixedOutcome[] = [];
  const foreign: ForeignOutcome[] = [];
  try {
    for (const count of values['no-mixed'] ? [] : counts) mixed.push(await measureMixed(server, count));
    console.log(mixedTable(mixed));
    for (const name of values.with === undefined ? [] : (['spindrift', values.with] as const))
      foreign.push(await measureForeign(server, name === 'karpenter' ? name : 'spindrift', Math.max(...counts)));
    if (foreign.length > 0) console.log(foreignTable(foreign));
  } finally {
    server.stop();
  }
  const results = join(import.meta.dirname, '..', 'results');
  mkdirSync(results, { recursive: true });
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  writeFileSync(join(results, 'queue.json'), `${JSON.stringify({ machine, mixed, foreign }, null, 2)}\n`);
}

function mixedTable(outcomes: readonly MixedOutcome[]): string {
  return table(
    ['messages', 'ours', 'sent in', 'gone after the last', 'replacements written', 'messages/s', 'CPU s', 'peak MB'],
    outcomes.map((one) => [
      one.messages.toLocaleString('en'),
      one.machines.toLocaleString('en'),
      `${one.sentSeconds.toFixed(1)} s`,
      `${one.goneSeconds.toFixed(1)} s`,
      `${one.replacedSeconds.toFixed(1)} s`,
      one.perSecond.toFixed(0),
      one.cpuSeconds.toFixed(1),
      one.peakMb.toFixed(0),
    ]),
  );
}

function foreignTable(outcomes: readonly ForeignOutcome[]): string {
  return table(
    ['controller', 'messages of others', 'sent in', 'gone after the last', 'CPU s', 'peak MB'],
    outcomes.map((one) => [
      one.controller,
      one.messages.toLocaleString('en'),
      `${one.sentSeconds.toFixed(1)} s`,
      `${one.goneSeconds.toFixed(1)} s`,
      one.cpuSeconds.toFixed(1),
      one.peakMb.toFixed(0),
    ]),
  );
}
