import { nodeClassLabel } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { CloudProvider } from '../../cloud/provider.ts';

/** Whether the machine of a claim is to come from this cloud. */
export function isOfProvider({ spec }: NodeClaim, { nodeClassKind }: CloudProvider): boolean {
  return spec.nodeClassRef.group === nodeClassKind.group && spec.nodeClassRef.kind === nodeClassKind.kind;
}

/**
 * Whether the machine of a node came from this cloud, as its claims say, or its own labels where they are gone. Another
 * autoscaler of the same API beside us holds its nodes with the same finalizer.
 */
export function isNodeOfProvider(node: Node, claims: readonly NodeClaim[], provider: CloudProvider): boolean {
  if (claims.length > 0) return claims.some((claim) => isOfProvider(claim, provider));
  return node.metadata.labels?.[nodeClassLabel(provider.nodeClassKind)] !== undefined;
}
