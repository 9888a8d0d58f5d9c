/**
 * `npm run bench -- falling-load [--nodes N]`: 1,000 nodes with 30 pods each lose half of their pods, and the fleet shrinks until it
 * has settled. The autoscaler has a process of its own with the flags that the command runs with, and the cluster another.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inItsOwnProcess } from '../in-its-own-process.ts';
import { table } from '../report/table.ts';
import type { FallingLoadResult } from './falling-load.ts';

const PODS_PER_NODE = 30;

export async function runFallingLoad(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { nodes: { type: 'string' } } });
  const machines = Number(values.nodes ?? 1000);
  if (!(Number.isInteger(machines) && machines > 0))
    throw new Error(`--nodes is ${values.nodes}, but it must be a whole number above 0`);
  const { firstAction, settled, nodesLeft, blocking, memoryPeak } = inItsOwnProcess<FallingLoadResult>(
    join(import.meta.dirname, 'run-case.ts'),
    machines,
    PODS_PER_NODE,
  );
  console.log(
    table(
      [
        'nodes',
        'pods before',
        'first action after, s',
        'settled after, s',
        'nodes left',
        'longest block, ms',
        'of that not let run, ms',
        'without the host, ms',
        'of processor time, ms',
        'memory, MB',
      ],
      [
        [
          `${machines}`,
          `${machines * PODS_PER_NODE}`,
          firstAction.toFixed(1),
          settled.toFixed(1),
          `${nodesLeft}`,
          blocking.longest.toFixed(0),
          blocking.waited.toFixed(0),
          blocking.longestHere.toFixed(0),
          blocking.longestCpu.toFixed(0),
          memoryPeak.toFixed(0),
        ],
      ],
    ),
  );
}
