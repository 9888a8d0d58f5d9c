import { solve } from '../../src/engine/solve.ts';
import type { ProblemFile } from '../format/problem-file.ts';
import { toProblem } from '../format/to-problem.ts';

const TIME_LIMIT_MS = 20_000;

/**
 * A price that no fleet for these pods can be below: the configuration LP of the problem without its topology, which can
 * only make it dearer.
 */
export function lowerBoundOf(problem: ProblemFile): number {
  const Pods = problem.Pods.map(({ SpreadZone: _, ...group }) => group);
  const startedAt = performance.now();
  const elapsedMs = (): number => performance.now() - startedAt;
  const options = { quality: 'balanced', deadlineMs: TIME_LIMIT_MS, elapsedMs } as const;
  return solve(toProblem({ ...problem, Pods }), options).lowerBound;
}
