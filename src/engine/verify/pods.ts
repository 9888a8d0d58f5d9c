import type { PodGroup, Problem } from '../problem.ts';

/** The pods of a problem by number: groups in order, each as often as it counts. */
export function podsOf(problem: Problem): PodGroup[] {
  return problem.pods.flatMap((group) => Array.from({ length: group.count ?? 1 }, () => group));
}
