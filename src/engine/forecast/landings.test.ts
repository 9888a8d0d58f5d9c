import { describe, expect, it } from 'vitest';
import { finish } from '../packing/work.ts';
import type { PodGroup, Problem } from '../problem.ts';
import type { NewNode } from '../solution.ts';
import { aNode, aPod, aProblem, GIB } from '../testkit/builders.ts';
import { type ArrivalOrder, type LandingsQuestion, landings } from './landings.ts';

const gib = (memory: number) => ({ cpu: 100, memory: memory * GIB });
const free = (memory: number) => ({ cpu: 4000, memory: memory * GIB, pods: 10 });

/** A small pod, 0, and two large ones, 1 and 2. One node has room for a large pod and the small one, the other for one large pod. */
const TIGHT: Problem = aProblem({
  pods: [aPod({ name: 'small', requests: gib(1) }), aPod({ name: 'large', requests: gib(3), count: 2 })],
  nodes: [aNode({ name: 'roomy', free: free(5) }), aNode({ name: 'tight', free: free(3.5) })],
});
const PLANNED: LandingsQuestion['solution'] = {
  existing: [
    { node: 'roomy', pods: [0, 1] },
    { node: 'tight', pods: [2] },
  ],
  newNodes: [],
};

/** A new node of 4 vCPUs and 8 GiB for these pods. */
function newNodeFor(...pods: number[]): NewNode {
  const offering = { instanceType: 'medium', zone: 'a', capacityType: 'on-demand', price: 1 } as const;
  return { pool: 'default', requirements: [], offerings: [offering], price: 1, pods, requests: {} };
}

function landed(order: ArrivalOrder, question: Partial<LandingsQuestion> = {}) {
  const { on, strays } = finish(
    landings({
      problem: TIGHT,
      solution: PLANNED,
      leaving: new Set([0, 1, 2]),
      isOpen: ({ inFlight }) => inFlight !== true,
      allocatableOf: () => free(8),
      ...question,
      order,
    }),
  );
  return { on: Object.fromEntries([...on].sort()), strays };
}

/** The problem with these changes to its small pod. */
function withSmall(parts: Partial<PodGroup>): Problem {
  const [small, large] = TIGHT.pods;
  return { ...TIGHT, pods: [{ ...(small as PodGroup), ...parts }, large as PodGroup] };
}

describe('pods that the scheduler places', () => {
  it('land where there is most room', () => {
    expect(landed('largest-first')).toEqual({ on: { 0: 'roomy', 1: 'tight', 2: 'roomy' }, strays: [] });
  });

  it('find no place where a small one has taken the room of a large one', () => {
    const { on, strays } = landed('by-turns');
    expect(strays).toHaveLength(1);
    expect(on[0]).toBe('tight');
  });

  it('take the room on open nodes first, also where they were to go to one that comes', () => {
    const solution = { existing: [{ node: 'tight', pods: [1] }], newNodes: [newNodeFor(0, 2)] };
    expect(landed('largest-first', { solution })).toEqual({ on: { 0: 'roomy', 1: 'tight', 2: 'roomy' }, strays: [] });
    const one = { ...TIGHT, nodes: TIGHT.nodes?.filter(({ name }) => name === 'tight') ?? [] };
    expect(landed('largest-first', { problem: one, solution })).toEqual({ on: { 2: 'tight' }, strays: [1] });
  });

  it('are not on a node that is still to come before it has come', () => {
    const [roomy, tight] = TIGHT.nodes ?? [];
    const problem = { ...TIGHT, nodes: [{ ...roomy!, inFlight: true }, tight!] };
    expect(landed('smallest-first', { problem })).toEqual({ on: { 0: 'tight' }, strays: [2] });
  });
});

describe('pods that land as they are planned', () => {
  it('are those that have no node to leave', () => {
    expect(landed('by-turns', { leaving: new Set([1, 2]) }).strays).toEqual([]);
  });

  it('are those with rules about other pods, ports or volumes', () => {
    const term = { topologyKey: 'kubernetes.io/hostname', selector: {} };
    const rules: Partial<PodGroup>[] = [
      { podAffinity: [term] },
      { podAntiAffinity: [term] },
      { hostPorts: [{ port: 80 }] },
      { volumeAttachments: { driver: 1 } },
    ];
    for (const parts of rules) {
      const { on, strays } = landed('by-turns', { problem: withSmall(parts) });
      expect(on).not.toHaveProperty('0');
      expect(strays).toEqual([]);
    }
  });
});
