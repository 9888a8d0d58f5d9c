/** Which SpotPolicy applies to a NodePool that several select. Pure. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { compileLabelSelector, type LabelMatcher, NOTHING } from '../../apis/kubernetes/label-selector.ts';
import type { SpotPolicy } from '../../apis/spindrift/spot-policy.ts';
import { asError, hasCode } from '../../platform/errors.ts';

/** The policies that select a NodePool; the first one applies. */
export function policiesFor(pool: NodePool, policies: readonly SpotPolicy[]): SpotPolicy[] {
  return byPrecedence(policies.filter((policy) => readSelector(policy).matcher.matches(pool.metadata.labels)));
}

/** The selector of a policy. An invalid one selects nothing, and `problem` says why. */
export function readSelector({ spec }: SpotPolicy): { readonly matcher: LabelMatcher; readonly problem?: string } {
  try {
    // Without a selector, a policy selects every NodePool.
    return { matcher: compileLabelSelector(spec.nodePoolSelector ?? {}) };
  } catch (error) {
    if (!hasCode(error, 'SELECTOR_INVALID')) throw error;
    return { matcher: NOTHING, problem: asError(error).message };
  }
}

/**
 * By priority, highest first, then by name. Both are in the manifest, so the same manifests mean the same in every cluster, in
 * whatever order they were applied.
 */
function byPrecedence(policies: readonly SpotPolicy[]): SpotPolicy[] {
  const name = ({ metadata }: SpotPolicy): string => metadata.name ?? '';
  return policies.toSorted((a, b) => b.spec.priority - a.spec.priority || (name(a) < name(b) ? -1 : 1));
}
