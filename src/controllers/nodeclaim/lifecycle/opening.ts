/**
 * Cordons a node until the pods it was launched for are bound to it, and uncordons it. As after `kubectl cordon`, DaemonSet pods still come:
 * the node may need them to become ready. Pure.
 */
import { conditionOf } from '../../../apis/karpenter/conditions.ts';
import { LABEL_INITIALIZED } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node, Taint } from '../../../apis/kubernetes/node.ts';
import type { ObjectMeta } from '../../../apis/kubernetes/object.ts';
import { TAINT_UNSCHEDULABLE } from '../../../apis/kubernetes/taints.ts';
import { ANNOTATION_OPENING } from '../../../apis/spindrift/annotations.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';

/** A merge patch of a node; null removes a field. */
export interface NodePatch {
  readonly metadata?: Omit<ObjectMeta, 'annotations'> & { readonly annotations?: object };
  readonly spec?: { readonly taints?: readonly Taint[]; readonly unschedulable?: boolean | null };
}

/** A node that is not initialized by then is uncordoned: other pods can use it, or it needs one of them. */
export const LONGEST_CLOSED_MS = 60_000;

const CLOSED: Taint = { key: TAINT_UNSCHEDULABLE, effect: 'NoSchedule' };

/** Adds the cordon to a patch, with the taint that Kubernetes would add for it, which saves another update of the node. */
export function closed({ metadata, spec }: NodePatch): NodePatch {
  const annotations = { ...metadata?.annotations, [ANNOTATION_OPENING]: 'true' };
  const taints = spec?.taints === undefined ? {} : { taints: [...spec.taints, CLOSED] };
  return { metadata: { ...metadata, annotations }, spec: { ...spec, ...taints, unschedulable: true } };
}

/** Whether the claim's node must be uncordoned, even if it is not initialized. */
export function isClosedForLong(claim: NodeClaim, now: EpochMs): boolean {
  const registered = conditionOf(claim, 'Registered');
  const since = registered?.status === 'True' ? parseTimestamp(registered.lastTransitionTime) : undefined;
  return since !== undefined && now - since >= LONGEST_CLOSED_MS;
}

/**
 * The patch that uncordons the node and removes the taint of the cordon. A node that is cordoned for another reason stays so; only our
 * annotation is removed.
 */
export function opened(node: Node, initialized: boolean, cordoned: boolean): NodePatch {
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== TAINT_UNSCHEDULABLE);
  const labels = initialized ? { labels: { [LABEL_INITIALIZED]: 'true' } } : {};
  const metadata = { ...labels, annotations: { [ANNOTATION_OPENING]: null } };
  return cordoned ? { metadata } : { metadata, spec: { unschedulable: null, taints } };
}
