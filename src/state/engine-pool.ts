/** A node pool as the engine sees it. */
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import type { ResourceList } from '../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../apis/kubernetes/pod-requests.ts';
import type { Pool, Resources } from '../engine/problem.ts';
import { requirement } from './engine-requirements.ts';
import type { PlannedTypes } from './planned-types.ts';
import { listedResources, resources } from './pod-group.ts';

/** The engine's view of a pool, with its limits and present usage. */
export function enginePool(pool: NodePool, instanceTypes: readonly string[], usage: Resources): Pool {
  const { template, weight = 0, limits } = pool.spec;
  const { requirements, taints = [], startupTaints = [] } = template.spec;
  const labels = template.metadata?.labels;
  return {
    name: pool.metadata.name ?? '',
    weight,
    requirements: requirements.map(requirement),
    ...(labels === undefined ? {} : { labels }),
    taints,
    startupTaints,
    instanceTypes,
    usage,
    ...(limits === undefined ? {} : { limits: resources(resourceAmounts(limits as ResourceList)) }),
  };
}

/** Resources of a pool's claims that count against its limits. A claim that is not launched yet counts as its planned type. */
export function poolUsage(claims: readonly NodeClaim[], planned: PlannedTypes): Resources {
  const sum: Record<string, number> = { nodes: claims.length };
  for (const claim of claims) {
    const { capacity } = claim.status ?? {};
    const amounts = capacity === undefined ? planned(claim)?.capacity : listedResources(capacity);
    for (const name in amounts) sum[name] = (sum[name] ?? 0) + (amounts[name] as number);
  }
  return sum;
}
