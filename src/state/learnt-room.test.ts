import { expect, it } from 'vitest';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { isOfNode } from './is-of-node.ts';
import { LearntRoom } from './learnt-room.ts';
import type { StateNode } from './state-node.ts';
import { MACHINES } from './testkit/a-fleet-snapshot.ts';
import { aPodAsking, aStateNode } from './testkit/a-state-node.ts';

/** An m5.large of the pool `general` with less room than its claim says. */
function came(promised: string, found: string, isUp = true): StateNode {
  const { node, claim } = aStateNode({ allocatable: { cpu: found } });
  const { 'karpenter.sh/initialized': _, ...labels } = node.metadata.labels ?? {};
  return {
    name: 'node',
    node: isUp ? node : { ...node, metadata: { ...node.metadata, labels } },
    claim: { ...claim, status: { ...claim.status, allocatable: { cpu: promised } } },
  };
}

function staticPod(cpu: string): Pod {
  const pod = aPodAsking('static', { cpu }, { nodeName: 'node' });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'node', uid: 'uid-node' }];
  return { ...pod, metadata: { ...pod.metadata, ownerReferences } };
}

function learning(nodes: readonly StateNode[], pods: readonly Pod[] = []) {
  const room = new LearntRoom({ nodes: () => nodes, staticPodsOn: () => pods.filter(isOfNode) });
  const corrected = (pool: string) => {
    for (const _ of room.look());
    return room.corrected(pool, MACHINES);
  };
  const overheads = (pool: string) => corrected(pool).map(({ overhead }) => overhead?.cpu ?? 0);
  return { room, corrected, overheads };
}

it('is as sold where nodes are as their types say', () => {
  const { corrected } = learning([came('2', '2')]);
  expect(corrected('general')).toBe(MACHINES);
});

it('is less for a type whose nodes came up smaller, in the pool where that was seen', () => {
  const { overheads, room } = learning([came('2', '1500m')]);
  expect(overheads('general')).toEqual([500, 0, 0]);
  expect(overheads('other')).toEqual([0, 0, 0]);
  expect(room.missingFrom(came('2', '2', false))).toEqual({ cpu: 500 });
});

it('is less on every node of a pool for pods that belong to nodes', () => {
  const { overheads } = learning([came('2', '2')], [staticPod('300m'), aPodAsking('web', { cpu: '1' })]);
  expect(overheads('general')).toEqual([300, 300, 300]);
});

it('stays less for such pods while a node of the pool has them, also when another has none', () => {
  const nodes = [{ ...came('2', '2'), name: 'with' }];
  const staticPodsOn = (name: string) => (name === 'with' ? [staticPod('300m')] : []);
  const room = new LearntRoom({ nodes: () => nodes, staticPodsOn });
  const overhead = () => {
    for (const _ of room.look());
    return room.corrected('general', MACHINES)[0]?.overhead?.cpu;
  };
  expect(overhead()).toBe(300);
  nodes.push({ ...came('2', '2'), name: 'without' });
  expect(overhead()).toBe(300);
  nodes.shift();
  expect(overhead()).toBeUndefined();
});

it('is not judged before a node is up', () => {
  expect(learning([came('2', '1', false)]).overheads('general')).toEqual([0, 0, 0]);
});

it('stays known when the node is gone, until another one tells otherwise', () => {
  const nodes = [came('2', '1')];
  const { overheads } = learning(nodes);
  expect(overheads('general')).toEqual([1000, 0, 0]);
  nodes.pop();
  expect(overheads('general')).toEqual([1000, 0, 0]);
  nodes.push(came('2', '2'));
  expect(overheads('general')).toEqual([0, 0, 0]);
});

it('is that of the smallest node where nodes of a type differ by a little', () => {
  const nodes = [came('2', '1500m')];
  const { overheads } = learning(nodes);
  expect(overheads('general')).toEqual([500, 0, 0]);
  nodes.push(came('2', '1490m'), came('2', '1505m'));
  expect(overheads('general')).toEqual([510, 0, 0]);
});

it('gives the same list as long as nothing new is learnt', () => {
  const { corrected } = learning([came('2', '1')]);
  expect(corrected('general')).toBe(corrected('general'));
});
