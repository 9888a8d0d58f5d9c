import type { Problem, Quality } from '../src/engine/problem.ts';
import type { Solution } from '../src/engine/solution.ts';
import { solve } from '../src/engine/solve.ts';

/** What one solve took and gave. */
export interface Measurement {
  readonly solution: Solution;
  readonly solveMs: number;
}

/** Solves once and takes the time of the whole solve, from the engine's question to its answer. */
export function measureSolve(problem: Problem, quality: Quality, deadlineMs: number): Measurement {
  const start = performance.now();
  const elapsedMs = () => performance.now() - start;
  const solution = solve(problem, { quality, deadlineMs, elapsedMs });
  return { solution, solveMs: elapsedMs() };
}

/** Peak memory of this process so far, in MB. */
export function peakRssMb(): number {
  return process.resourceUsage().maxRSS / 1024;
}
