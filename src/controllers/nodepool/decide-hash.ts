/** Template hashes of pools and claims. A claim whose hash differs from its pool's has drifted. Pure. */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { ANNOTATION_NODE_POOL_HASH, ANNOTATION_NODE_POOL_HASH_VERSION } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../../apis/karpenter/node-pool-hash.ts';

export interface HashPlan {
  /** The annotations of the pool. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Whether the pool does not carry them yet. */
  readonly poolChanges: boolean;
  /** Claims whose hash has another version and cannot be compared, with their new annotations. */
  readonly claims: readonly { readonly claim: NodeClaim; readonly annotations: Readonly<Record<string, string>> }[];
}

export function decideHash(pool: NodePool, claims: readonly NodeClaim[]): HashPlan {
  const version = { [ANNOTATION_NODE_POOL_HASH_VERSION]: NODE_POOL_HASH_VERSION };
  const annotations = { ...version, [ANNOTATION_NODE_POOL_HASH]: nodePoolHash(pool) };
  const own = pool.metadata.annotations ?? {};
  return {
    annotations,
    poolChanges: Object.entries(annotations).some(([key, value]) => own[key] !== value),
    claims: claims
      .filter(({ metadata }) => metadata.annotations?.[ANNOTATION_NODE_POOL_HASH_VERSION] !== NODE_POOL_HASH_VERSION)
      // A drifted claim keeps its old hash, so that it stays drifted.
      .map((claim) => ({ claim, annotations: isTrue(claim, 'Drifted') ? version : annotations })),
  };
}
