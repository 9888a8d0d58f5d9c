/** Which policy holds for a NodePool that several select. Pure. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { compileLabelSelector } from '../../apis/kubernetes/label-selector.ts';
import type { SpotPolicy } from '../../apis/spindrift/spot-policy.ts';

/** Whether a policy is for a NodePool. */
export function selectsPool(policy: SpotPolicy, pool: NodePool): boolean {
  return compileLabelSelector(policy.spec.nodePoolSelector).matches(pool.metadata.labels);
}

/**
 * The policies in the order in which they hold: the highest priority first, of equals the first by name. Both are written in
 * the manifest, so that the same manifests mean the same in every cluster, whenever they were applied.
 */
export function byPrecedence(policies: readonly SpotPolicy[]): SpotPolicy[] {
  const name = ({ metadata }: SpotPolicy): string => metadata.name ?? '';
  return policies.toSorted((a, b) => b.spec.priority - a.spec.priority || (name(a) < name(b) ? -1 : 1));
}
