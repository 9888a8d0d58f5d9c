import { expect, it } from 'vitest';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { AffinityAnchors, anchoredSteps } from './affinity-anchors.ts';

const ZONE = 'topology.kubernetes.io/zone';
const ZONES: Readonly<Record<string, string>> = { 'node-a': 'a', 'node-b': 'b' };
const labelsOf = (node: string) => ({ [ZONE]: ZONES[node] ?? '' });

function pod(nodeName: string | undefined, topologyKey = ZONE, app = 'web', namespace = 'default'): Pod {
  const term = { topologyKey, labelSelector: { matchLabels: { app: 'web' } } };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace, labels: { app } },
    spec: { containers: [], affinity, ...(nodeName === undefined ? {} : { nodeName }) },
  };
}

it('keeps a pod in the zones of the pods that leave and that it must be beside', () => {
  const anchors = new AffinityAnchors([pod('node-a'), pod('node-b')], labelsOf);
  expect(anchors.of(pod(undefined))).toEqual([{ key: ZONE, operator: 'In', values: ['a', 'b'] }]);
});

it.each([
  ['of another kind leave', pod('node-a', ZONE, 'other'), pod(undefined)],
  ['of another namespace leave', pod('node-a', ZONE, 'web', 'other'), pod(undefined)],
  ['must be on the same host, which goes', pod('node-a'), pod(undefined, 'kubernetes.io/hostname')],
])('keeps no pod anywhere where pods %s', (_, leaving, waiting) => {
  expect(new AffinityAnchors([leaving], labelsOf).of(waiting)).toEqual([]);
});

it('looks for a place there first, and elsewhere where there is none', () => {
  const anchor = { key: ZONE, operator: 'In', values: ['a'] } as const;
  const gpu = { key: 'gpu', operator: 'In', values: ['t4'] } as const;
  expect(anchoredSteps([], [])).toEqual([]);
  expect(anchoredSteps([], [anchor])).toEqual([[[anchor]], [[]]]);
  expect(anchoredSteps([[[gpu]]], [anchor])).toEqual([[[gpu, anchor]], [[gpu]]]);
});
