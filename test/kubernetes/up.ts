/** `npm run kubernetes`: a real control plane for a person, up until Ctrl-C. `--nodes N` gives it N nodes of kwok. */
import { parseArgs } from 'node:util';
import { whyUnavailable } from './harness/availability.ts';
import { fakeNode } from './harness/fake-node.ts';
import { startRun } from './harness/run.ts';

const { nodes, problem } = parse();
const refused = problem ?? whyUnavailable();
if (refused !== undefined) {
  process.stderr.write(`kubernetes: ${refused}\n`);
  process.exit(1);
}

const start = performance.now();
const run = await startRun();
const { kubectl, kubeconfig } = run.controlPlane;
if (nodes > 0) await kubectl.apply(...Array.from({ length: nodes }, (_, index) => fakeNode(`fake-${index}`)));
process.stdout.write(`Kubernetes is up after ${((performance.now() - start) / 1000).toFixed(1)} s, with ${nodes} nodes.

  kubeconfig  ${kubeconfig}
  kubectl     ${run.binaries.kubectl}
  logs        ${run.directory}

  export KUBECONFIG=${kubeconfig}

Ctrl-C stops it and removes all of it.
`);

// Only now: before, a signal ends us at once, and the guard sees to the rest.
const interrupted = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
});
const broken = await Promise.race([interrupted, run.controlPlane.broken]);
await run.end(broken === undefined).catch((error: Error) => {
  process.stderr.write(`kubernetes: ${error.message}\n`);
  process.exitCode = 1;
});

function parse(): { nodes: number; problem?: string } {
  try {
    const { values } = parseArgs({ options: { nodes: { type: 'string', default: '0' } } });
    if (/^\d{1,5}$/.test(values.nodes)) return { nodes: Number(values.nodes) };
    return { nodes: 0, problem: `--nodes is ${values.nodes}, but it must be a whole number from 0 to 99999` };
  } catch (error) {
    return { nodes: 0, problem: (error as Error).message };
  }
}
