/** The nodes of a pool together do not exceed its limits, except for nodes that the cloud reclaims within minutes. */
import { LABEL_NODE_POOL } from '../../../src/apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import type { ResourceList } from '../../../src/apis/kubernetes/pod.ts';
import { resourceAmounts } from '../../../src/apis/kubernetes/pod-requests.ts';
import { isLost } from '../../../src/controllers/interruption/is-lost.ts';
import type { InvariantMaker } from '../invariant.ts';

export const poolLimits: InvariantMaker = (facts, broken) => ({
  written({ collection, type, object, previous }) {
    if (collection !== 'nodeclaims.karpenter.sh' || type === 'DELETED') return;
    const grown =
      (object as NodeClaim).status?.capacity !== undefined &&
      (previous as NodeClaim | undefined)?.status?.capacity === undefined;
    if (!grown && type !== 'ADDED') return;
    const name = object.metadata.labels?.[LABEL_NODE_POOL] ?? '';
    const limits = facts.pools.find(({ metadata }) => metadata.name === name)?.spec.limits;
    if (limits === undefined) return;
    const claims = facts.claimsOf(name).filter((claim) => !isLost(claim, facts.now));
    const used: Record<string, bigint> = { nodes: BigInt(claims.length) };
    for (const { status } of claims)
      for (const [resource, amount] of Object.entries(resourceAmounts(status?.capacity)))
        used[resource] = (used[resource] ?? 0n) + amount;
    for (const [resource, limit] of Object.entries(resourceAmounts(limits as ResourceList)))
      if ((used[resource] ?? 0n) > limit)
        broken(
          `pool ${name} has ${used[resource]} of ${resource} and may have ${limit}, with claim ${object.metadata.name}`,
        );
  },
});
