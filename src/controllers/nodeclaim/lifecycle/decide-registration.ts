/** Whether the machine of a claim has joined the cluster, and what its node is given when it has. Pure. */
import type { ConditionChange } from '../../../apis/karpenter/conditions.ts';
import {
  FINALIZER_TERMINATION,
  LABEL_DO_NOT_SYNC_TAINTS,
  LABEL_REGISTERED,
  TAINT_UNREGISTERED,
} from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node, Taint } from '../../../apis/kubernetes/node.ts';
import type { OwnerReference } from '../../../apis/kubernetes/object.ts';
import { ANNOTATION_OFFERINGS } from '../../../state/planned-offerings.ts';
import type { NodePatch } from './opening.ts';

export interface RegistrationPlan {
  readonly condition: ConditionChange;
  /** The one node of the claim. */
  readonly node?: Node;
  /** What is merged into it; absent when it is registered already. */
  readonly nodePatch?: NodePatch;
  /** Nothing kept pods off the node until now. */
  readonly taintMissing?: boolean;
}

/** What kubectl and we keep on a claim for ourselves. */
const KEPT_ANNOTATIONS = [ANNOTATION_OFFERINGS, 'kubectl.kubernetes.io/last-applied-configuration'];

export function decideRegistration(claim: NodeClaim, nodes: readonly Node[]): RegistrationPlan {
  // One that goes already takes no finalizer any more.
  const staying = nodes.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const [node, ...others] = staying;
  if (node === undefined) {
    const message = 'Node not registered with cluster';
    return { condition: { type: 'Registered', status: 'Unknown', reason: 'NodeNotFound', message } };
  }
  if (others.length > 0) {
    const names = staying.map(({ metadata }) => metadata.name).join(', ');
    const message = `Invariant violated, matched multiple nodes: ${names}`;
    return { condition: { type: 'Registered', status: 'False', reason: 'MultipleNodesFound', message } };
  }
  const condition: ConditionChange = { type: 'Registered', status: 'True' };
  if (isRegistered(node)) return { condition, node };
  const taintMissing = !isKeptEmpty(node);
  return { condition, node, nodePatch: registered(node, claim), taintMissing };
}

/** Whether the taint of nodes that are not registered drives everything off it. */
export function isKeptEmpty({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === TAINT_UNREGISTERED.key) === true;
}

function isRegistered(node: Node): boolean {
  const { labels, finalizers = [] } = node.metadata;
  return labels?.[LABEL_REGISTERED] === 'true' && finalizers.includes(FINALIZER_TERMINATION) && !isKeptEmpty(node);
}

function registered(node: Node, claim: NodeClaim): NodePatch {
  const { finalizers = [], ownerReferences = [] } = node.metadata;
  const annotations = Object.entries(claim.metadata.annotations ?? {}).filter(
    ([key]) => !KEPT_ANNOTATIONS.includes(key),
  );
  return {
    metadata: {
      labels: { ...claim.metadata.labels, [LABEL_REGISTERED]: 'true' },
      annotations: Object.fromEntries(annotations),
      finalizers: [...new Set([...finalizers, FINALIZER_TERMINATION])],
      ownerReferences: [...ownerReferences.filter(({ kind }) => kind !== 'NodeClaim'), ownerReference(claim)],
    },
    spec: { taints: registeredTaints(node, claim) },
  };
}

/** The node's own taints and those of its claim, of each key and effect one; the unregistered one has done its work. */
function registeredTaints(node: Node, claim: NodeClaim): Taint[] {
  const own = (node.spec?.taints ?? []).filter(({ key }) => key !== TAINT_UNREGISTERED.key);
  if (node.metadata.labels?.[LABEL_DO_NOT_SYNC_TAINTS] === 'true') return own;
  const wanted = [...(claim.spec.taints ?? []), ...(claim.spec.startupTaints ?? [])];
  const missing = wanted.filter(
    (taint) => !own.some(({ key, effect }) => key === taint.key && effect === taint.effect),
  );
  return [...own, ...missing];
}

function ownerReference({ apiVersion, kind, metadata }: NodeClaim): OwnerReference {
  const { name = '', uid = '' } = metadata;
  return { apiVersion, kind, name, uid, blockOwnerDeletion: true };
}
