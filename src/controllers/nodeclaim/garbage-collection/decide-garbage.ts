/** Which machines and claims have lost each other. Pure. */
import { conditionOf, isTrue } from '../../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { Machine } from '../../../cloud/machine.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { isReady } from '../../../state/is-ready.ts';

export interface GarbageFacts {
  /** Of all accounts and regions that could be listed. */
  readonly machines: readonly Machine[];
  readonly claims: readonly NodeClaim[];
  /** Whether the place that a claim's machine is in could be listed: elsewhere, nothing is known to be missing. */
  isListed(claim: NodeClaim): boolean;
  nodesOf(providerID: string): readonly Node[];
  readonly now: EpochMs;
  /** What is younger may only look as if it were lost. */
  settleMs(claim: NodeClaim | undefined): number;
}

export interface Garbage {
  /** Nobody asked for them, or whoever did is gone. */
  readonly machines: readonly Machine[];
  /** Their machine is gone. */
  readonly claims: readonly NodeClaim[];
  /** Their node was there and is not: somebody took it away without asking, and nothing can run on their machine. */
  readonly nodeless: readonly NodeClaim[];
}

export function decideGarbage({ machines, claims, isListed, nodesOf, now, settleMs }: GarbageFacts): Garbage {
  const claimed = new Set(claims.map(({ metadata }) => metadata.uid ?? ''));
  // Machines that another autoscaler launched carry no UID of ours: their claim knows them by their provider ID.
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
      // Where the node still speaks, the cloud's list is what is wrong.
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
