import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { NewNode, RankedOffering, Solution } from '../../engine/solution.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';
import type { StateNode } from '../../state/state-node.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { DEFAULT_SPOT_SETTINGS } from '../spot-policy/spot-settings.ts';
import { aNode, aNodeClaim, aPod } from '../testkit/objects.ts';
import type { Candidate } from './candidate.ts';
import { keepOnDemand } from './keep-on-demand.ts';
import type { Look } from './look.ts';
import type { Placement } from './place-elsewhere.ts';

type CapacityType = RankedOffering['capacityType'];

const pool = { metadata: { name: 'general' } } as NodePool;

function aStateNode(name: string, capacityType: CapacityType): StateNode & Pick<Candidate, 'node' | 'claim'> {
  const labels = {
    'karpenter.sh/nodepool': 'general',
    'karpenter.sh/capacity-type': capacityType,
    'karpenter.sh/registered': 'true',
    'node.kubernetes.io/instance-type': 'small',
    'topology.kubernetes.io/zone': 'a',
  };
  return { name, node: aNode({ name, metadata: { labels } }), claim: aNodeClaim({ name, metadata: { labels } }) };
}

function aCandidate(name: string): Candidate {
  const state = aStateNode(name, 'on-demand');
  return { state, node: state.node, claim: state.claim, pool, pods: [aPod({ name: `pod-of-${name}` })] };
}

function aNewNode(capacityType: CapacityType, ...pods: number[]): NewNode {
  const offerings = [{ instanceType: 'small', zone: 'a', capacityType, price: 1 }];
  return { pool: 'general', requirements: [], offerings, price: 1, pods, requests: {} };
}

/** A plan for the pods of these candidates, numbered in their order, and after them one of somebody else. */
function aPlacement(candidates: readonly Candidate[], newNodes: readonly NewNode[]): Placement {
  const pods = [...candidates.flatMap((candidate) => candidate.pods), aPod({ name: 'stranger' })];
  const built = { pods, held: [] } as unknown as BuiltProblem;
  return { candidates, built, solution: { newNodes, unplaced: [] } as unknown as Solution, gaps: [] };
}

/** The outcome where one on-demand node is asked for and the candidates are all there are, beside a spot node. */
async function kept(names: readonly string[], newNodes: readonly NewNode[], alone: readonly NewNode[]) {
  const candidates = names.map(aCandidate);
  const limits = { ...DEFAULT_SPOT_SETTINGS.limits, onDemandBase: 1 };
  const nodes = [...candidates.map(({ state }) => state), aStateNode('spot', 'spot')];
  const placement = await keepOnDemand(
    aPlacement(candidates, newNodes),
    {
      look: { nodes, snapshot: () => ({}) } as unknown as Look,
      pools: [{ pool } as UsablePool],
      policies: { for: () => ({ ...DEFAULT_SPOT_SETTINGS, limits }) },
      solve: async () => aPlacement(candidates.slice(0, 1), alone),
    },
    new AbortController().signal,
  );
  const going = placement.candidates.map(({ state }) => state.name);
  return { going, newNodes: placement.solution.newNodes, missed: placement.gaps.length };
}

describe('on-demand nodes that a policy asks for', () => {
  it('go where another on-demand node comes for their pods', async () => {
    const newNodes = [aNewNode('on-demand', 0, 1)];
    expect(await kept(['a', 'b'], newNodes, [])).toEqual({ going: ['a', 'b'], newNodes, missed: 0 });
  });

  it('get one of their own where their pods would find room elsewhere', async () => {
    const alone = [aNewNode('on-demand', 0)];
    expect(await kept(['a', 'b'], [], alone)).toEqual({ going: ['a'], newNodes: alone, missed: 0 });
  });

  it('get one of their own where the one that is planned is for pods of others, and not launched for them', async () => {
    const alone = [aNewNode('on-demand', 0)];
    expect(await kept(['a', 'b'], [aNewNode('on-demand', 2)], alone)).toEqual({
      ...{ going: ['a'], newNodes: alone, missed: 0 },
    });
  });

  it('go without where none can be had, and it is said', async () => {
    expect(await kept(['a'], [aNewNode('spot', 0)], [aNewNode('spot', 0)])).toMatchObject({ going: ['a'], missed: 1 });
  });
});
