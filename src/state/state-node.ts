/** A node and the claim it came from, as one thing: either may be there without the other. */
import {
  FINALIZER_TERMINATION,
  LABEL_CAPACITY_TYPE,
  LABEL_INITIALIZED,
  LABEL_INSTANCE_TYPE,
  LABEL_NODE_POOL,
  LABEL_REGISTERED,
  LABEL_ZONE,
  TAINT_DISRUPTED,
  TAINT_UNREGISTERED,
} from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Node, Taint } from '../apis/kubernetes/node.ts';
import type { ResourceList } from '../apis/kubernetes/pod.ts';
import { TAINT_UNSCHEDULABLE } from '../apis/kubernetes/taints.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_INTERRUPTION, ANNOTATION_OPENING } from '../apis/spindrift/annotations.ts';
import { ANNOTATION_OFFERINGS, firstOffering } from './planned-offerings.ts';

/** Before the name of a claim that stands for a node that is not there yet: no node can have such a name. */
export const CLAIM_PREFIX = 'nodeclaim/';

export interface StateNode {
  /** The node's, or while there is none `nodeclaim/` and the claim's. */
  readonly name: string;
  readonly node?: Node;
  readonly claim?: NodeClaim;
  /** Another autoscaler's: its room and its pods count, and it is never written. Its claim is shown only while it has no node. */
  readonly foreign?: true;
}

/** What Kubernetes itself puts on a node that is coming up, and takes away again. */
const PASSING_TAINTS = [
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/network-unavailable',
  'node.cloudprovider.kubernetes.io/uninitialized',
  TAINT_UNSCHEDULABLE,
  TAINT_UNREGISTERED.key,
];

export function poolOf({ node, claim }: StateNode): string | undefined {
  return claim?.metadata.labels?.[LABEL_NODE_POOL] ?? node?.metadata.labels?.[LABEL_NODE_POOL];
}

/** A machine of ours that pods cannot run on yet. */
export function isInFlight({ node, claim }: StateNode): boolean {
  return claim !== undefined && node?.metadata.labels?.[LABEL_INITIALIZED] !== 'true';
}

/** Whether a claim's machine goes: it is deleted, its cloud takes it away, or a disruption has begun. */
export function isClaimGoing({ metadata }: NodeClaim): boolean {
  const { deletionTimestamp, annotations = {} } = metadata;
  if (deletionTimestamp !== undefined) return true;
  return annotations[ANNOTATION_INTERRUPTION] !== undefined || annotations[ANNOTATION_DISRUPTION] !== undefined;
}

/** It goes, so that its pods need another place. */
export function isGoing({ node, claim }: StateNode): boolean {
  return node?.metadata.deletionTimestamp !== undefined || (claim !== undefined && isClaimGoing(claim));
}

/** It is closed only until the scheduler knows which pods it was made for. */
export function isOpening({ metadata }: Node): boolean {
  return metadata.annotations?.[ANNOTATION_OPENING] !== undefined;
}

/** It is on its way, or up and still closed for the pods that it was made for. */
export function isComing(state: StateNode): boolean {
  return isInFlight(state) || (state.node !== undefined && isOpening(state.node));
}

/** It goes, or nobody may be put on it. */
export function isLeaving(state: StateNode): boolean {
  const { node } = state;
  if (isGoing(state)) return true;
  if (node?.spec?.unschedulable === true && !isOpening(node)) return true;
  return (node?.spec?.taints ?? []).some((taint) => taint.key === TAINT_DISRUPTED.key);
}

/** Whether Spindrift made it and must take it away. */
export function isManaged({ node, claim, foreign }: StateNode): boolean {
  if (foreign === true) return false;
  return claim !== undefined || (node?.metadata.finalizers ?? []).includes(FINALIZER_TERMINATION);
}

/** The labels it has, or will have once its claim's machine is there. */
export function labelsOf({ node, claim }: StateNode): Readonly<Record<string, string>> {
  if (claim === undefined || node?.metadata.labels?.[LABEL_REGISTERED] === 'true') return node?.metadata.labels ?? {};
  const planned = firstOffering(claim.metadata.annotations?.[ANNOTATION_OFFERINGS]);
  const expected =
    planned === undefined
      ? {}
      : {
          [LABEL_INSTANCE_TYPE]: planned.instanceType,
          [LABEL_ZONE]: planned.zone,
          [LABEL_CAPACITY_TYPE]: planned.capacityType,
        };
  return { ...expected, ...claim.metadata.labels, ...node?.metadata.labels };
}

/** The taints that will stay once it is up. */
export function taintsOf(state: StateNode): readonly Taint[] {
  const { node, claim } = state;
  if (!isInFlight(state)) {
    const taints = node?.spec?.taints ?? [];
    return node !== undefined && isOpening(node) ? taints.filter(({ key }) => key !== TAINT_UNSCHEDULABLE) : taints;
  }
  const passing = new Set([...PASSING_TAINTS, ...(claim?.spec.startupTaints ?? []).map(({ key }) => key)]);
  const own =
    node?.metadata.labels?.[LABEL_REGISTERED] === 'true' ? (node.spec?.taints ?? []) : (claim?.spec.taints ?? []);
  return own.filter((taint) => !passing.has(taint.key));
}

/** What pods can have of it; undefined while nobody knows. */
export function allocatableOf(state: StateNode): ResourceList | undefined {
  const { node, claim } = state;
  if (!isInFlight(state)) return node?.status?.allocatable;
  return claim?.status?.allocatable ?? node?.status?.allocatable;
}
