#!/usr/bin/env -S node --max-semi-space-size=4 --v8-pool-size=2
// A small young generation halves the memory of a cluster with 10,000 pods and costs no time that can be measured. Two
// helpers of the garbage collector are enough, and on few processors more of them keep the program itself waiting.
// Says what is wrong on an old Node, in one line, before any syntax that only a new one can read is loaded.
import { setFlagsFromString } from 'node:v8';

const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(`spindrift needs Node 24 or later, this is ${process.version}`);
  process.exit(1);
}
// The heap grows by two fifths before it is tidied, not to twice its size and more: a third less memory for as much processor time.
setFlagsFromString('--heap-growing-percent=40');
// The heap is compacted while there is little else to do, not in the middle of work: the longest pauses were those.
setFlagsFromString('--gc-experiment-less-compaction');
const { main } = await import('../src/cli/main.ts');
process.exitCode = await main(process.argv.slice(2));
