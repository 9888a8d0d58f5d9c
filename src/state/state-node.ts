/** A node and its claim as one object; either may exist without the other. */
import { TAINT_UNINITIALIZED } from '../apis/cluster-api/names.ts';
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

/** Prefix of the name of a claim without a node. No node can have such a name. */
export const CLAIM_PREFIX = 'nodeclaim/';

export interface StateNode {
  /** The name of the node, or `nodeclaim/` and the name of the claim while there is no node. */
  readonly name: string;
  readonly node?: Node;
  readonly claim?: NodeClaim;
  /** Belongs to another autoscaler: its room and pods count, but it is never changed. Its claim is listed only while it has no node. */
  readonly foreign?: true;
}

/** Taints that Kubernetes and Cluster API set on a starting node and remove again. */
const PASSING_TAINTS = [
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/network-unavailable',
  'node.cloudprovider.kubernetes.io/uninitialized',
  TAINT_UNINITIALIZED.key,
  TAINT_UNSCHEDULABLE,
  TAINT_UNREGISTERED.key,
];

export function poolOf({ node, claim }: StateNode): string | undefined {
  return claim?.metadata.labels?.[LABEL_NODE_POOL] ?? node?.metadata.labels?.[LABEL_NODE_POOL];
}

/** A managed machine that is not initialized yet. */
export function isInFlight({ node, claim }: StateNode): boolean {
  return claim !== undefined && node?.metadata.labels?.[LABEL_INITIALIZED] !== 'true';
}

/** Whether a claim is being removed: deleted, interrupted, or marked for disruption. */
export function isClaimGoing({ metadata }: NodeClaim): boolean {
  const { deletionTimestamp, annotations = {} } = metadata;
  if (deletionTimestamp !== undefined) return true;
  return annotations[ANNOTATION_INTERRUPTION] !== undefined || annotations[ANNOTATION_DISRUPTION] !== undefined;
}

/** The node is being removed, so its pods need other nodes. */
export function isGoing({ node, claim }: StateNode): boolean {
  return node?.metadata.deletionTimestamp !== undefined || (claim !== undefined && isClaimGoing(claim));
}

/** The node is cordoned only until its planned pods are bound. */
export function isOpening({ metadata }: Node): boolean {
  return metadata.annotations?.[ANNOTATION_OPENING] !== undefined;
}

/** The node is starting, or cordoned until its planned pods are bound. */
export function isComing(state: StateNode): boolean {
  return isInFlight(state) || (state.node !== undefined && isOpening(state.node));
}

/** The node is being removed, cordoned, or has the disrupted taint. */
export function isLeaving(state: StateNode): boolean {
  const { node } = state;
  if (isGoing(state)) return true;
  if (node?.spec?.unschedulable === true && !isOpening(node)) return true;
  return (node?.spec?.taints ?? []).some((taint) => taint.key === TAINT_DISRUPTED.key);
}

/** Whether Spindrift launched the node and must terminate it. */
export function isManaged({ node, claim, foreign }: StateNode): boolean {
  if (foreign === true) return false;
  return claim !== undefined || (node?.metadata.finalizers ?? []).includes(FINALIZER_TERMINATION);
}

/** The labels of the node, or the expected ones before it has registered. */
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

/** The taints that remain once the node is initialized. */
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

/** Allocatable resources; undefined while unknown. */
export function allocatableOf(state: StateNode): ResourceList | undefined {
  const { node, claim } = state;
  if (!isInFlight(state)) return node?.status?.allocatable;
  return claim?.status?.allocatable ?? node?.status?.allocatable;
}
