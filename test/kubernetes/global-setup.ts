/**
 * Starts one control plane for the whole run of the kubernetes ring. Tests that stop programs of a control plane start
 * one of their own (`ownControlPlane`), so that no file can disturb another.
 */
import type { TestProject } from 'vitest/node';
import { whyUnavailable } from './harness/availability.ts';
import type { Binaries } from './harness/binaries.ts';
import { startRun } from './harness/run.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** What tests need to reach the control plane of the run, or to start another. */
    readonly controlPlane: {
      /** The path of an administrator's kubeconfig. */
      readonly kubeconfig: string;
      readonly binaries: Binaries;
      /** What service accounts asked of it, as the API server writes it down. */
      readonly auditLog: string;
      /** The folder of the run, for logs and files; it is kept when a test fails. */
      readonly directory: string;
    };
  }
}

/** Vitest calls this before the first test of the ring, and what it returns after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const unavailable = whyUnavailable();
  if (unavailable !== undefined) throw new Error(unavailable);
  const { controlPlane, binaries, directory, end } = await startRun();
  project.provide('controlPlane', {
    kubeconfig: controlPlane.kubeconfig,
    auditLog: controlPlane.auditLog,
    binaries,
    directory,
  });
  return () => {
    const { state } = project.vitest;
    return end(state.getFailedFilepaths().length === 0 && state.getUnhandledErrors().length === 0);
  };
}
