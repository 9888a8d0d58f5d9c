import { describe, expect, it } from 'vitest';
import { ANNOTATION_DISRUPTION, ANNOTATION_INTERRUPTION } from '../../apis/spindrift/annotations.ts';
import { finish } from '../../engine/packing/work.ts';
import type { Problem } from '../../engine/problem.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aNode, aNodeClaim, aPod } from '../testkit/objects.ts';
import { predictPlacements } from './predict-placements.ts';

const GIB = 1024 ** 3;
const free = (memory: number) => ({ cpu: 4000, memory: memory * GIB, pods: 10 });
const requests = (memory: number) => ({ cpu: 100, memory: memory * GIB });

/** A small pod and two large ones leave `old`; `roomy` has room for a large and the small one, `tight` for one large. */
const problem: Problem = {
  pods: [
    { name: 'small', namespace: 'default', requests: requests(1) },
    { name: 'large', namespace: 'default', requests: requests(3), count: 2 },
  ],
  pools: [],
  instanceTypes: [],
  nodes: [
    { name: 'old', labels: {}, free: {}, leaving: true },
    { name: 'roomy', labels: {}, free: free(5) },
    { name: 'tight', labels: {}, free: free(3.5) },
  ],
};
const solution = {
  existing: [
    { node: 'roomy', pods: [0, 1] },
    { node: 'tight', pods: [2] },
  ],
  newNodes: [],
};

function node(name: string, annotations: Record<string, string> = {}): StateNode {
  const labels = { 'karpenter.sh/initialized': 'true' };
  return {
    name,
    node: aNode({ name, metadata: { labels } }),
    claim: aNodeClaim({ name, metadata: { annotations } }),
  };
}

/** The prediction for three pods and `others` more, on three nodes and `others` more. */
function predictedFor(old: StateNode, others = 0) {
  const pods = ['small', 'large-1', 'large-2'].map((name) => aPod({ name, spec: { nodeName: 'old' } }));
  const nodes = [old, node('roomy'), node('tight')];
  const built = {
    problem,
    pods: [...pods, ...Array.from({ length: others }, () => pods[0])],
    snapshot: { nodes: [...nodes, ...Array.from({ length: others }, () => old)] },
  };
  return finish(predictPlacements(built as unknown as BuiltProblem, solution));
}

describe('where what comes after pods lands', () => {
  it('is told where that leaves one of an interrupted node without a place', () => {
    const predicted = predictedFor(node('old', { [ANNOTATION_INTERRUPTION]: 'spot-interruption' }));
    expect(predicted?.size).toBe(2);
    expect(predicted?.get('uid-small')).toBe('tight');
  });

  it('is of no interest where nobody is in a hurry: what is left over has a place where it is', () => {
    expect(predictedFor(node('old', { [ANNOTATION_DISRUPTION]: 'id=a reason=Drifted' }))).toBeUndefined();
  });

  it('is not worked out in a storm of notices', () => {
    const old = node('old', { [ANNOTATION_INTERRUPTION]: 'spot-interruption' });
    expect(predictedFor(old, 100)).toBeDefined();
    expect(predictedFor(old, 2000)).toBeUndefined();
  });
});
