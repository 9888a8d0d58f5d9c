import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { CloudProvider } from '../../cloud/provider.ts';

/** Whether the machine of a claim is to come from this cloud. */
export function isOfProvider({ spec }: NodeClaim, { nodeClassKind }: CloudProvider): boolean {
  return spec.nodeClassRef.group === nodeClassKind.group && spec.nodeClassRef.kind === nodeClassKind.kind;
}
