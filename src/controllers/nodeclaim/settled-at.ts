import { conditionOf } from '../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Clouds } from '../../cloud/clouds.ts';
import { parseTimestamp } from '../../platform/clock.ts';

/**
 * From when on the cloud is believed when it says that the claim's machine does not exist: a young one may only not be
 * shown yet, and one that nobody wrote down may have been launched until the claim was deleted.
 */
export function settledAt(claim: NodeClaim, clouds: Pick<Clouds, 'settleMs'>): number {
  const from =
    claim.status?.providerID === undefined
      ? claim.metadata.deletionTimestamp
      : (conditionOf(claim, 'Launched')?.lastTransitionTime ?? claim.metadata.creationTimestamp);
  return (parseTimestamp(from) ?? 0) + clouds.settleMs(claim);
}
