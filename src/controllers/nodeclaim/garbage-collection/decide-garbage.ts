/** Finds machines without a claim, and claims without a machine or node. Pure. */
import { conditionOf, isTrue } from '../../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { Machine } from '../../../cloud/machine.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { isReady } from '../../../state/is-ready.ts';

export interface GarbageFacts {
  /** The machines of all accounts and regions that could be listed. */
  readonly machines: readonly Machine[];
  readonly claims: readonly NodeClaim[];
  /** Whether the account and region of the claim's machine could be listed; otherwise it is not known to be missing. */
  isListed(claim: NodeClaim): boolean;
  nodesOf(providerID: string): readonly Node[];
  readonly now: EpochMs;
  /** Younger machines and claims may only look lost. */
  settleMs(claim: NodeClaim | undefined): number;
}

export interface Garbage {
  /** Machines whose claim does not exist. */
  readonly machines: readonly Machine[];
  /** Claims whose machine no longer exists. */
  readonly claims: readonly NodeClaim[];
  /** Registered claims whose node was removed by somebody else, so that nothing can run on their machine. */
  readonly nodeless: readonly NodeClaim[];
}

export function decideGarbage({ machines, claims, isListed, nodesOf, now, settleMs }: GarbageFacts): Garbage {
  const claimed = new Set(claims.map(({ metadata }) => metadata.uid ?? ''));
  // Machines that another autoscaler launched have no UID tag of ours; their claims name them by provider ID.
  const known = new Set(claims.map(({ status }) => status?.providerID));
  const there = new Set(machines.map(({ providerID }) => providerID));
  return {
    machines: machines.filter(
      ({ claim, providerID, launchedAt }) =>
        !claimed.has(claim.uid) &&
        !(claim.uid === '' && known.has(providerID)) &&
        now - launchedAt > settleMs(undefined),
    ),
    claims: claims.filter((claim) => {
      const providerID = claim.status?.providerID;
      if (providerID === undefined || there.has(providerID) || claim.metadata.deletionTimestamp !== undefined)
        return false;
      const launchedAt = parseTimestamp(conditionOf(claim, 'Launched')?.lastTransitionTime) ?? now;
      if (!isTrue(claim, 'Launched') || now - launchedAt <= settleMs(claim) || !isListed(claim)) return false;
      // While the node is ready, the cloud's list is wrong.
      return !nodesOf(providerID).some(isReady);
    }),
    nodeless: claims.filter(
      (claim) =>
        claim.metadata.deletionTimestamp === undefined &&
        isTrue(claim, 'Registered') &&
        nodesOf(claim.status?.providerID ?? '').length === 0,
    ),
  };
}
