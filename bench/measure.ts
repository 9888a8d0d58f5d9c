import { consolidateSteps } from '../src/engine/consolidation/consolidate.ts';
import type { Fleet } from '../src/engine/consolidation/fleet.ts';
import type { ConsolidationPlan } from '../src/engine/consolidation/plan.ts';
import type { Problem, Quality } from '../src/engine/problem.ts';
import type { Solution } from '../src/engine/solution.ts';
import { solveSteps } from '../src/engine/solve.ts';

/** What one run took and gave. */
export interface Measurement<Answer> {
  readonly answer: Answer;
  readonly ms: number;
  /** Processor time of the engine's thread: what `ms` would be on a machine with nothing else to do. */
  readonly cpuMs: number;
  /** The longest time for which the engine did not give way to others. */
  readonly longestSliceMs: number;
}

/** Solves once and takes the time of the whole solve, from the engine's question to its answer. */
export function measureSolve(problem: Problem, quality: Quality, deadlineMs: number): Measurement<Solution> {
  return measure((elapsedMs) => solveSteps(problem, { quality, deadlineMs, elapsedMs }));
}

/** Plans the consolidation of a fleet once, to the end. */
export function measureConsolidation(fleet: Fleet): Measurement<ConsolidationPlan> {
  return measure((elapsedMs) => consolidateSteps(fleet, { elapsedMs }));
}

function measure<Answer>(begin: (elapsedMs: () => number) => Generator<void, Answer, void>): Measurement<Answer> {
  const cpuStart = process.threadCpuUsage();
  const start = performance.now();
  const elapsedMs = () => performance.now() - start;
  const steps = begin(elapsedMs);
  let longestSliceMs = 0;
  for (let sliceStart = 0; ; ) {
    const { done, value } = steps.next();
    const now = elapsedMs();
    longestSliceMs = Math.max(longestSliceMs, now - sliceStart);
    sliceStart = now;
    if (done === true) return { answer: value, ms: now, cpuMs: cpuMsSince(cpuStart), longestSliceMs };
  }
}

function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

/** Peak memory of this process so far, in MB. */
export function peakRssMb(): number {
  return process.resourceUsage().maxRSS / 1024;
}
