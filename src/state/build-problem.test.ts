import { describe, expect, it } from 'vitest';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { buildProblem } from './build-problem.ts';
import { aFleetSnapshot, aRunningPod } from './testkit/a-fleet-snapshot.ts';
import { aPodAsking, aStateNode } from './testkit/a-state-node.ts';

describe('a problem that is built while the cluster goes on', () => {
  const a = aStateNode({ name: 'a' });
  const named = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, uid: `uid-${pod.metadata.name}` } });
  const web = named(aRunningPod('web', 'a'));

  it('asks for a place for a pod that was pending, and does not count it where it has come to meanwhile', () => {
    const pending = [named(aPodAsking('web', { cpu: '500m', memory: '1Gi' }))];
    const snapshot = { ...aFleetSnapshot({ nodes: [a], pods: [web] }), pending };
    const { problem, pods } = buildProblem(snapshot);
    expect(pods).toEqual(pending);
    expect(problem.boundPods).toEqual([]);
    const { problem: before } = buildProblem({ ...aFleetSnapshot({ nodes: [a] }), pending });
    expect(problem.nodes?.[0]?.free).toEqual(before.nodes?.[0]?.free);
  });

  it('counts a pod once that a place was kept for and that has come to it meanwhile', () => {
    const kept = named(aPodAsking('web', { cpu: '500m', memory: '1Gi' }));
    const { problem } = buildProblem({ ...aFleetSnapshot({ nodes: [a] }), pending: [], podsOn: () => [web, kept] });
    expect(problem.boundPods).toHaveLength(1);
  });
});
