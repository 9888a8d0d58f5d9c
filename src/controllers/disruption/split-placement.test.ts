import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { NewNode, Solution } from '../../engine/solution.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aNode, aNodeClaim, aPod } from '../testkit/objects.ts';
import type { Candidate } from './candidate.ts';
import { splitPlacement } from './split-placement.ts';

const pool = { metadata: { name: 'general' } } as NodePool;

function aCandidate(name: string, pods: number): Candidate {
  const node = aNode({ name });
  const claim = aNodeClaim({ name });
  const state = { name, node, claim };
  return {
    state,
    node,
    claim,
    pool,
    pods: Array.from({ length: pods }, (_, index) => aPod({ name: `${name}-${index}` })),
  };
}

function aNewNode(...pods: number[]): NewNode {
  return { pool: 'general', requirements: [], offerings: [], price: 1, pods, requests: {} };
}

function split(candidates: readonly Candidate[], parts: Partial<Solution>, nodes: readonly StateNode[] = []) {
  const stranger = aPod({ name: 'stranger' });
  const pods = [...candidates.flatMap((candidate) => candidate.pods), stranger];
  const built = { pods, cloudName: (name: string) => name } as unknown as BuiltProblem;
  const solution = { newNodes: [], existing: [], unplaced: [], ...parts } as unknown as Solution;
  let id = 0;
  const commands = splitPlacement(
    { candidates, built, solution, gaps: [] },
    {
      node: (name) => nodes.find((node) => node.name === name),
      poolNamed: new Map([['general', pool]]),
      reason: 'Drifted',
      disruption: 'eventual',
      newId: () => `c${id++}`,
    },
  );
  return commands.map(({ candidates: going, newNodes, needs, receivers }) => ({
    going: going.map(({ state }) => state.name),
    newNodes: newNodes.length,
    needs,
    receivers,
  }));
}

describe('the commands of a placement', () => {
  it('take those together whose pods share a new node, so that the failure of one holds up no other', () => {
    const candidates = [aCandidate('a', 1), aCandidate('b', 1), aCandidate('c', 2)];
    expect(split(candidates, { newNodes: [aNewNode(0, 2), aNewNode(1), aNewNode(3)] })).toEqual([
      { going: ['a', 'c'], newNodes: 2, needs: [], receivers: [] },
      { going: ['b'], newNodes: 1, needs: [], receivers: [] },
    ]);
  });

  it('make no nodes that are for pods of others only', () => {
    expect(split([aCandidate('a', 1)], { newNodes: [aNewNode(1)], existing: [] })).toEqual([
      { going: ['a'], newNodes: 0, needs: [], receivers: [] },
    ]);
  });

  it('wait for nodes on their way that pods are to go to, as for their own', () => {
    const up = {
      name: 'up',
      node: aNode({ name: 'up', metadata: { labels: { 'karpenter.sh/initialized': 'true' } } }),
    };
    const coming = { name: 'nodeclaim/coming', claim: aNodeClaim({ name: 'coming' }) };
    const existing = [
      { node: 'up', pods: [0] },
      { node: 'nodeclaim/coming', pods: [1] },
    ];
    expect(split([aCandidate('a', 2)], { existing }, [up, coming])).toEqual([
      { going: ['a'], newNodes: 0, needs: ['coming'], receivers: ['up', 'nodeclaim/coming'] },
    ]);
  });
});
