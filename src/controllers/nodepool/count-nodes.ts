import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { resourceAmounts } from '../../apis/kubernetes/pod-requests.ts';
import type { Resources } from '../../engine/problem.ts';
import { resources } from '../../state/pod-group.ts';

/** How many claims have a machine, as `nodes`, and what those machines have together. */
export function countNodes(claims: readonly NodeClaim[]): Resources {
  const launched = claims.filter(({ status }) => status?.capacity !== undefined);
  const sum: Record<string, number> = { nodes: launched.length };
  for (const { status } of launched) {
    for (const [name, amount] of Object.entries(resources(resourceAmounts(status?.capacity))))
      sum[name] = (sum[name] ?? 0) + amount;
  }
  return sum;
}
