import { withConditions } from '../../apis/karpenter/condition-changes.ts';
import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import {
  NODE_CLAIM_CONDITIONS,
  NODE_CLAIMS,
  type NodeClaim,
  type NodeClaimStatus,
} from '../../apis/karpenter/node-claim.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { claimRequestTimeout } from '../interruption/deadline-pacing.ts';

/** Writes conditions and other status fields of a claim, if any has changed. Returns the claim as written. */
export async function writeClaimConditions(
  { writes, clock }: Pick<ControllersOptions, 'writes' | 'clock'>,
  claim: NodeClaim,
  changes: readonly ConditionChange[],
  signal: AbortSignal,
  status: Omit<NodeClaimStatus, 'conditions'> = {},
): Promise<NodeClaim> {
  const conditions = withConditions(NODE_CLAIM_CONDITIONS, claim, changes, clock.now());
  const known = claim.status as Readonly<Record<string, unknown>> | undefined;
  const fresh = Object.entries(status).some(
    ([field, value]) => JSON.stringify(known?.[field]) !== JSON.stringify(value),
  );
  if (conditions === claim.status?.conditions && !fresh) return claim;
  const body = { status: { ...status, conditions } };
  const limit = claimRequestTimeout(claim, clock.now());
  return writes.patch(NODE_CLAIMS, claim, body, { ...limit, signal, subresource: 'status' });
}
