/** Decides whether the claim's node has joined the cluster, and what is written on it then. Pure. */
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
  /** The patch that registers it; absent if it is registered already. */
  readonly nodePatch?: NodePatch;
  /** Whether the node joined without the taint that keeps pods off until now. */
  readonly taintMissing?: boolean;
}

/** Annotations that are not copied to the node. */
const KEPT_ANNOTATIONS = [ANNOTATION_OFFERINGS, 'kubectl.kubernetes.io/last-applied-configuration'];

export function decideRegistration(claim: NodeClaim, nodes: readonly Node[]): RegistrationPlan {
  // A deleted node accepts no new finalizer.
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
  const taintMissing = !hasUnregisteredTaint(node);
  return { condition, node, nodePatch: registered(node, claim), taintMissing };
}

/** Whether the node has the taint `karpenter.sh/unregistered`, which keeps all pods off. */
export function hasUnregisteredTaint({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === TAINT_UNREGISTERED.key) === true;
}

function isRegistered(node: Node): boolean {
  const { labels, finalizers = [] } = node.metadata;
  return (
    labels?.[LABEL_REGISTERED] === 'true' && finalizers.includes(FINALIZER_TERMINATION) && !hasUnregisteredTaint(node)
  );
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

/** The taints of the node and of its claim, one per key and effect, without the unregistered taint. */
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
