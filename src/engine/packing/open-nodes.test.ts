import { describe, expect, it } from 'vitest';
import { compileModel, type PodClass } from '../compile/model.ts';
import type { Problem } from '../problem.ts';
import { aNode, aPod, aProblem } from '../testkit/builders.ts';
import { PlacementState } from '../topology/placement-state.ts';
import { OpenNodes } from './open-nodes.ts';

function placeAll(problem: Problem): number[] {
  const state = new PlacementState(compileModel(problem, { preferences: true, preferenceSlack: 0.1 }));
  const nodes = new OpenNodes(state);
  for (const podClass of state.model.classes as readonly PodClass[]) {
    nodes.place(podClass, podClass.attempts[0]!.nodes[0]!, podClass.pods.length);
  }
  return state.contents.map((contents) =>
    contents.filter((_, at) => at % 2 === 1).reduce((sum, count) => sum + count, 0),
  );
}

describe('open nodes', () => {
  const many = (free: (index: number) => number) =>
    Array.from({ length: 200 }, (_, index) =>
      aNode({ name: `n${index}`, free: { cpu: free(index), memory: 2 ** 40, pods: 100 } }),
    );

  it('are filled from the first on, past whole blocks that have no room', () => {
    const counts = placeAll(
      aProblem({ pods: [aPod({ count: 5 })], nodes: many((index) => (index < 150 ? 500 : 2000)) }),
    );
    expect(counts.slice(0, 150).every((count) => count === 0)).toBe(true);
    expect(counts.slice(150, 153)).toEqual([2, 2, 1]);
  });

  it('take no more than they have room for', () => {
    const counts = placeAll(
      aProblem({
        pods: [aPod({ name: 'a', count: 90 }), aPod({ name: 'b', count: 90, requests: { cpu: 250 } })],
        nodes: many(() => 1000).slice(0, 100),
      }),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(90 + 40);
  });
});
