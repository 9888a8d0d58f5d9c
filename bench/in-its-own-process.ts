import { spawnSync } from 'node:child_process';

/** What the command runs with, see `bin/spindrift.js`. */
export const PRODUCT_FLAGS: readonly string[] = [
  '--max-semi-space-size=4',
  '--v8-pool-size=2',
  '--heap-growing-percent=40',
  '--gc-experiment-less-compaction',
];

/** Runs a file that measures one case, with the flags of the command, and gives the JSON that it prints. */
export function inItsOwnProcess<T>(file: string, ...args: readonly (string | number)[]): T {
  const { status, stdout } = spawnSync(process.execPath, [...PRODUCT_FLAGS, file, ...args.map(String)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} failed`);
  return JSON.parse(stdout) as T;
}
