import { expect, it } from 'vitest';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { ANNOTATION_PLANNED_FOR, demandOf, plannedFor, writePlannedFor } from './planned-for.ts';
import { aPodAsking, aStateNode } from './testkit/a-state-node.ts';

const of = (name: string, cpu: string, owner?: string): Pod => {
  const pod = aPodAsking(name, { cpu });
  const ownerReferences = owner
    ? [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }]
    : [];
  return { ...pod, metadata: { ...pod.metadata, uid: name, ownerReferences } };
};

it('is one demand for pods of one owner that ask for the same, and another for each pod without owner', () => {
  expect(demandOf(of('a', '1', 'rs'))).toBe(demandOf(of('b', '1000m', 'rs')));
  expect(demandOf(of('a', '1', 'rs'))).not.toBe(demandOf(of('b', '2', 'rs')));
  expect(demandOf(of('a', '1'))).not.toBe(demandOf(of('b', '1')));
});

it('is read from a claim as it was written, without words that make no sense', () => {
  const attempts = new Map([
    ['*', 1],
    ['uid:a.b', 3],
  ]);
  const text = `${writePlannedFor(attempts)} nonsense a#x #2`;
  expect(plannedFor(aStateNode({ claimAnnotations: { [ANNOTATION_PLANNED_FOR]: text } }).claim)).toEqual(attempts);
  expect(plannedFor(aStateNode().claim).size).toBe(0);
});
