import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { Solution, UnplacedReason } from '../../engine/solution.ts';
import { buildProblem, type ClusterSnapshot } from '../../state/build-problem.ts';
import { aNode, aNodeClaim, aPod } from '../testkit/objects.ts';
import type { Candidate } from './candidate.ts';
import type { Look } from './look.ts';
import { placeElsewhere, type Solve } from './place-elsewhere.ts';
import { alone } from './unit.ts';

const WHY: UnplacedReason = { offerings: 0, funnel: [], nearest: undefined, nodes: 0, nodesRejectedBy: {} };

function aCandidate(name: string): Candidate {
  const pods = [aPod({ name: `pod-of-${name}` })];
  const node = aNode({ name });
  const claim = aNodeClaim({ name });
  return { state: { name, node, claim }, node, claim, pool: {} as NodePool, pods };
}

/** Places pods as `fits` says, given all that need a place; tells what came of it and how often it was asked. */
async function place(names: readonly string[], fits: (pods: readonly string[]) => readonly string[]) {
  const candidates = names.map(aCandidate);
  const asked: number[] = [];
  const blocked: string[] = [];
  const snapshot = (_: unknown, leaving: readonly Candidate[]): ClusterSnapshot => ({
    ...{ pending: [], nodes: [], podsOn: () => [], daemonSets: [], pools: [], namespaces: [] },
    displaced: leaving.flatMap(({ pods }) => pods),
    storage: { claim: () => undefined, volume: () => undefined, storageClass: () => undefined },
  });
  const solve: Solve = async (all) => {
    const built = buildProblem(all);
    const { pods } = built;
    asked.push(pods.length);
    const nameOf = (pod: Pod): string => pod.metadata.name ?? '';
    const placed = fits(pods.map(nameOf));
    const left = pods.flatMap((pod, number) => (placed.includes(nameOf(pod)) ? [] : [number]));
    const unplaced = left.map((number) => ({ group: number, pods: [number], reason: WHY }));
    return { built, solution: { unplaced } as unknown as Solution, gaps: [] };
  };
  const placement = await placeElsewhere(
    candidates.map(alone),
    {
      look: { snapshot } as unknown as Look,
      pools: [],
      closed: [],
      solve,
      blocked: ({ first }) => void blocked.push(first.state.name),
    },
    new AbortController().signal,
  );
  return { placed: placement?.candidates.map(({ state }) => state.name) ?? [], blocked, asked };
}

describe('other places for the pods of nodes that go', () => {
  it('are found for all of them at once', async () => {
    expect(await place(['a', 'b'], (pods) => pods)).toEqual({ placed: ['a', 'b'], blocked: [], asked: [2] });
  });

  it('are found for the others where some have none', async () => {
    const fits = (pods: readonly string[]) => pods.filter((name) => name !== 'pod-of-b');
    expect(await place(['a', 'b', 'c'], fits)).toEqual({ placed: ['a', 'c'], blocked: ['b'], asked: [3, 2] });
  });

  it('are found for the first of them where there is not room for all at once', async () => {
    const fits = (pods: readonly string[]) => (pods.length <= 1 ? pods : []);
    expect(await place(['a', 'b', 'c', 'd'], fits)).toEqual({ placed: ['a'], blocked: [], asked: [4, 2, 1] });
  });

  it('are given up where there is none at all', async () => {
    expect(await place(['a', 'b'], () => [])).toEqual({ placed: [], blocked: ['a'], asked: [2, 1] });
  });
});
