import type { PodGroup, Problem } from '../problem.ts';

/** The pods of a problem by number: each group repeated by its count. */
export function podsOf(problem: Problem): PodGroup[] {
  return problem.pods.flatMap((group) => Array.from({ length: group.count ?? 1 }, () => group));
}
