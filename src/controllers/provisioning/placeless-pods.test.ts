import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aNode, aNodeClaim, aPod } from '../testkit/objects.ts';
import { placelessPods } from './placeless-pods.ts';
import type { PredictedPlacements } from './predict-placements.ts';

const leaving: StateNode = {
  name: 'old',
  node: aNode({ name: 'old' }),
  claim: aNodeClaim({ metadata: { name: 'old', annotations: { 'spindrift.dev/disruption': '{}' } } }),
};
const coming: StateNode = {
  name: 'new',
  node: aNode({ name: 'new' }),
  claim: aNodeClaim({ metadata: { name: 'new' } }),
};
const [first, second] = [aPod({ name: 'first' }), aPod({ name: 'second' })];
const waiting = ['a', 'b'].map((name) => aPod({ name, spec: { nodeName: '' }, status: { phase: 'Pending' } }));

function found(
  kept: readonly Pod[],
  after: readonly Pod[],
  held: readonly Pod[] = [],
  predicted?: PredictedPlacements,
) {
  const state = { podsOn: (node: string) => (node === 'old' ? [first, second] : []), provisionable: () => waiting };
  const places = {
    nominations: { keptFor: ({ metadata }: NodeClaim) => (metadata.name === 'new' ? [...kept] : []) },
    successors: { placesFor: () => new Map([['new', after]]) },
  };
  const isEvictionBlocked = (pod: Pod) => held.includes(pod);
  const { pending, displaced, podsOn } = placelessPods(state, [leaving, coming], places, isEvictionBlocked, predicted);
  const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name);
  return { pending: names(pending), displaced: names(displaced), old: names(podsOn('old')), new: names(podsOn('new')) };
}

describe('pods without a place', () => {
  it('are those that wait, and those on nodes that go', () => {
    expect(found([], [])).toEqual({
      pending: ['a', 'b'],
      displaced: ['first', 'second'],
      old: ['first', 'second'],
      new: [],
    });
  });

  it('are not those that a place is kept for, nor those whose successors have one: they count there', () => {
    expect(found([waiting[0] as Pod], [second])).toEqual({
      pending: ['b'],
      displaced: ['first'],
      old: ['first'],
      new: ['a', 'second'],
    });
  });

  it('are not those that stay on their node though it goes: they count where they are', () => {
    expect(found([], [], [second])).toMatchObject({ displaced: ['first'], old: ['first', 'second'], new: [] });
  });

  it('are not those that are expected to find one: they count there', () => {
    const predicted = new Map([['uid-first', 'new']]);
    expect(found([], [], [], predicted)).toMatchObject({ displaced: ['second'], old: ['second'], new: ['first'] });
  });
});
