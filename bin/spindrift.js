#!/usr/bin/env node
// Says what is wrong on an old Node, in one line, before any syntax that only a new one can read is loaded.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(`spindrift needs Node 24 or later, this is ${process.version}`);
  process.exit(1);
}
const { main } = await import('../src/cli/main.ts');
process.exitCode = await main(process.argv.slice(2));
