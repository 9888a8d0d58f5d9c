import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';
import { type KubectlCase, kubectlCases, type Step } from './kubectl-cases.ts';

export interface KubectlEnvironment {
  readonly kubectl: string;
  readonly kubeconfig: string;
  /** A folder for its cache, of its own. */
  readonly home: string;
  readonly namespace: string;
}

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Declares a test for each case; `environment` is asked when the tests run. */
export function declareKubectlCases(node: string, environment: () => KubectlEnvironment): void {
  for (const testCase of kubectlCases(node)) {
    it(testCase.it, async () => {
      await runCase(testCase, environment());
    });
  }
}

async function runCase({ steps }: KubectlCase, environment: KubectlEnvironment): Promise<void> {
  for (const step of steps) {
    const outcome = await runStep(step, environment);
    const told = `kubectl ${step.args.join(' ')}\n${outcome.stdout}${outcome.stderr}`;
    // A watch that runs into its time limit may end either way.
    if (!step.args.includes('--watch')) expect(outcome.code !== 0, told).toBe(step.fails === true);
    if (step.prints !== undefined) expect(outcome.stdout, told).toMatch(step.prints);
    if (step.complains !== undefined) expect(outcome.stderr, told).toMatch(step.complains);
  }
}

/** Runs kubectl once. */
export async function runKubectl(
  environment: KubectlEnvironment,
  args: readonly string[],
): Promise<{ failed: boolean; out: string }> {
  const { code, stdout, stderr } = await runStep({ args }, environment);
  return { failed: code !== 0, out: stdout + stderr };
}

function runStep(step: Step, { kubectl, kubeconfig, home, namespace }: KubectlEnvironment): Promise<Outcome> {
  const inNamespace = step.args.some((arg) => arg.startsWith('--namespace')) ? [] : [`--namespace=${namespace}`];
  const env = { PATH: process.env.PATH, HOME: home, KUBECONFIG: kubeconfig };
  return new Promise((resolve) => {
    const child = execFile(
      kubectl,
      [...inNamespace, ...step.args],
      { env, maxBuffer: 1 << 26 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      },
    );
    // A kubectl that fails before it has read its input is told by its exit code, not by the broken pipe.
    child.stdin?.on('error', () => child.stdin?.destroy());
    child.stdin?.end(typeof step.input === 'object' ? JSON.stringify(step.input) : step.input);
  });
}
