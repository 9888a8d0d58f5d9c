import type { Problem, Quality } from '../src/engine/problem.ts';
import type { Solution } from '../src/engine/solution.ts';
import { solveSteps } from '../src/engine/solve.ts';

/** What one solve took and gave. */
export interface Measurement {
  readonly solution: Solution;
  readonly solveMs: number;
  /** The longest time for which the solver did not give way to others. */
  readonly longestSliceMs: number;
}

/** Solves once and takes the time of the whole solve, from the engine's question to its answer. */
export function measureSolve(problem: Problem, quality: Quality, deadlineMs: number): Measurement {
  const start = performance.now();
  const elapsedMs = () => performance.now() - start;
  const steps = solveSteps(problem, { quality, deadlineMs, elapsedMs });
  let longestSliceMs = 0;
  for (let sliceStart = 0; ; ) {
    const { done, value } = steps.next();
    const now = elapsedMs();
    longestSliceMs = Math.max(longestSliceMs, now - sliceStart);
    sliceStart = now;
    if (done === true) return { solution: value, solveMs: now, longestSliceMs };
  }
}

/** Peak memory of this process so far, in MB. */
export function peakRssMb(): number {
  return process.resourceUsage().maxRSS / 1024;
}
