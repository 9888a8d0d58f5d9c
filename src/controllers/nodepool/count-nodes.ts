import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Resources } from '../../engine/problem.ts';
import { listedResources } from '../../state/pod-group.ts';

/** Number of launched claims, as `nodes`, and their total capacity. */
export function countNodes(claims: readonly NodeClaim[]): Resources {
  let nodes = 0;
  const sum: Record<string, number> = {};
  for (const { status } of claims) {
    if (status?.capacity === undefined) continue;
    nodes++;
    const amounts = listedResources(status.capacity);
    for (const name in amounts) sum[name] = (sum[name] ?? 0) + (amounts[name] as number);
  }
  return { nodes, ...sum };
}
