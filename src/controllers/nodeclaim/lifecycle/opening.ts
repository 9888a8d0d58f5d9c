/**
 * A new node is closed to the scheduler until the pods it was made for are on it. Closed as `kubectl cordon` closes it: the
 * pods of DaemonSets, which may be what makes it ready, come nevertheless. Pure.
 */
import { conditionOf } from '../../../apis/karpenter/conditions.ts';
import { LABEL_INITIALIZED } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node, Taint } from '../../../apis/kubernetes/node.ts';
import type { ObjectMeta } from '../../../apis/kubernetes/object.ts';
import { TAINT_UNSCHEDULABLE } from '../../../apis/kubernetes/taints.ts';
import { ANNOTATION_OPENING } from '../../../apis/spindrift/annotations.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';

/** What is merged into a node; null takes away. */
export interface NodePatch {
  readonly metadata?: Omit<ObjectMeta, 'annotations'> & { readonly annotations?: object };
  readonly spec?: { readonly taints?: readonly Taint[]; readonly unschedulable?: boolean | null };
}

/** A node that has not become what it should be by then is of use to other pods, or needs one of them. */
export const LONGEST_CLOSED_MS = 60_000;

const CLOSED: Taint = { key: TAINT_UNSCHEDULABLE, effect: 'NoSchedule' };

/** The patch, with the node closed: also with the taint that Kubernetes would give it for that, which spares everybody another change of the node. */
export function closed({ metadata, spec }: NodePatch): NodePatch {
  const annotations = { ...metadata?.annotations, [ANNOTATION_OPENING]: 'true' };
  const taints = spec?.taints === undefined ? {} : { taints: [...spec.taints, CLOSED] };
  return { metadata: { ...metadata, annotations }, spec: { ...spec, ...taints, unschedulable: true } };
}

/** Whether the node of the claim has been closed for so long that it must be opened, whatever it lacks. */
export function isClosedForLong(claim: NodeClaim, now: EpochMs): boolean {
  const registered = conditionOf(claim, 'Registered');
  const since = registered?.status === 'True' ? parseTimestamp(registered.lastTransitionTime) : undefined;
  return since !== undefined && now - since >= LONGEST_CLOSED_MS;
}

/**
 * What opens the node, also without the taint that Kubernetes gave it because it was closed. One that is cordoned stays
 * closed: it is only no longer ours to open.
 */
export function opened(node: Node, initialized: boolean, cordoned: boolean): NodePatch {
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== TAINT_UNSCHEDULABLE);
  const labels = initialized ? { labels: { [LABEL_INITIALIZED]: 'true' } } : {};
  const metadata = { ...labels, annotations: { [ANNOTATION_OPENING]: null } };
  return cordoned ? { metadata } : { metadata, spec: { unschedulable: null, taints } };
}
