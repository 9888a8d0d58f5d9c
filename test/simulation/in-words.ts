/** Describes the important writes of a cluster's history, one line each; undefined for others. */
import { isTrue } from '../../src/apis/karpenter/conditions.ts';
import { LABEL_NODE_POOL } from '../../src/apis/karpenter/labels.ts';
import type { NodeClaim } from '../../src/apis/karpenter/node-claim.ts';
import type { Node } from '../../src/apis/kubernetes/node.ts';
import type { Pod } from '../../src/apis/kubernetes/pod.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_INTERRUPTION } from '../../src/apis/spindrift/annotations.ts';
import type { Write } from './scribe.ts';

export function inWords(write: Write): string | undefined {
  switch (write.collection) {
    case 'nodeclaims.karpenter.sh':
      return ofClaim(write, write.object as NodeClaim, write.previous as NodeClaim | undefined);
    case 'nodes':
      return ofNode(write, write.object as Node, write.previous as Node | undefined);
    case 'pods':
      return ofPod(write, write.object as Pod, write.previous as Pod | undefined);
    default:
      return undefined;
  }
}

function ofClaim({ type, key }: Write, claim: NodeClaim, before: NodeClaim | undefined): string | undefined {
  const { annotations = {}, deletionTimestamp, labels } = claim.metadata;
  const was = before?.metadata.annotations ?? {};
  if (type === 'ADDED') return `claim ${key} of ${labels?.[LABEL_NODE_POOL]} is written`;
  if (type === 'DELETED') return `claim ${key} is gone`;
  const said: string[] = [];
  for (const name of [ANNOTATION_DISRUPTION, ANNOTATION_INTERRUPTION])
    if (annotations[name] !== was[name]) said.push(`${name}: ${annotations[name] ?? 'no more'}`);
  if (deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined) said.push('deleted');
  for (const condition of ['Launched', 'Registered', 'Initialized', 'Drained', 'InstanceTerminating'])
    if (before !== undefined && isTrue(claim, condition) && !isTrue(before, condition)) said.push(condition);
  return said.length === 0 ? undefined : `claim ${key}: ${said.join('; ')}`;
}

function ofNode({ type, key }: Write, node: Node, before: Node | undefined): string | undefined {
  if (type !== 'MODIFIED') return `node ${key} ${type === 'ADDED' ? 'joins' : 'is gone'}`;
  const ready = readiness(node);
  if (ready !== readiness(before)) return `node ${key} is ready: ${ready}`;
  const goes = node.metadata.deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined;
  return goes ? `node ${key} is deleted` : undefined;
}

function readiness(node: Node | undefined): string {
  return node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'unknown';
}

function ofPod({ type, key, verb }: Write, pod: Pod, before: Pod | undefined): string | undefined {
  const { nodeName } = pod.spec;
  if (type === 'ADDED') return `pod ${key} is made`;
  if (type === 'DELETED') return `pod ${key} is gone from ${nodeName}`;
  if (nodeName !== undefined && before?.spec.nodeName === undefined)
    return `pod ${key} is bound to ${nodeName} by ${verb === undefined ? 'the scheduler' : 'us'}`;
  if (pod.metadata.deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined)
    return `pod ${key} on ${nodeName} is to leave, by ${verb ?? 'another'}`;
  const phase = pod.status?.phase;
  return phase !== before?.status?.phase ? `pod ${key} is ${phase}` : undefined;
}
