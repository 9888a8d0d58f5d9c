import { conditionOf } from '../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Clouds } from '../../cloud/clouds.ts';
import { parseTimestamp } from '../../platform/clock.ts';

/**
 * When the cloud's API shows the claim's machine at the latest; only after that does "not found" mean that it does not exist. A machine
 * that the claim does not name may have been launched until the claim was deleted.
 */
export function instanceVisibleBy(claim: NodeClaim, clouds: Pick<Clouds, 'settleMs'>): number {
  const from =
    claim.status?.providerID === undefined
      ? claim.metadata.deletionTimestamp
      : (conditionOf(claim, 'Launched')?.lastTransitionTime ?? claim.metadata.creationTimestamp);
  return (parseTimestamp(from) ?? 0) + clouds.settleMs(claim);
}
