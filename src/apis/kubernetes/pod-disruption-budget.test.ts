import { expect, it } from 'vitest';
import { evictionsAllowed, type PodDisruptionBudget } from './pod-disruption-budget.ts';

function budget(generation: number, observedGeneration: number, disruptionsAllowed: number): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', generation },
    spec: {},
    status: { observedGeneration, disruptionsAllowed },
  };
}

it('a budget allows the evictions in its status, and none while that is of an older generation', () => {
  expect(evictionsAllowed(budget(2, 2, 3))).toBe(3);
  expect(evictionsAllowed(budget(2, 1, 3))).toBe(0);
  expect(evictionsAllowed(budget(2, 2, -1))).toBe(0);
});
