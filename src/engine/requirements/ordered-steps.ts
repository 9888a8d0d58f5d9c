import type { Alternatives, PodGroup } from '../problem.ts';

/** The alternatives of a pod, grouped into the steps in which they are tried; a single step if they have no order. */
export function orderedSteps({
  ordered,
  requirements,
  stepSizes,
}: Pick<PodGroup, 'ordered' | 'requirements' | 'stepSizes'>): (Alternatives | undefined)[] {
  if (ordered !== true || requirements === undefined || requirements.length < 2) return [requirements];
  if (stepSizes === undefined) return requirements.map((list) => [list]);
  let end = 0;
  return stepSizes.map((size) => {
    end += size;
    return requirements.slice(end - size, end);
  });
}
