/** Counts the missing and surplus nodes of a static pool. Pure. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_INTERRUPTION } from '../../apis/spindrift/annotations.ts';
import { isClaimGoing, poolOf, type StateNode } from '../../state/state-node.ts';

export interface StaticCount {
  /** Nodes that stay, launched or not. */
  readonly staying: readonly StateNode[];
  /** Nodes to launch now. */
  readonly missing: number;
  /** Nodes to delete now. */
  readonly surplus: number;
}

/** Whether a disruption command replaces the claim, even if the cache does not show its annotation yet. */
export type IsTaken = (claim: NodeClaim) => boolean;

/**
 * Counts the nodes of a static pool. A node that a disruption command replaces still counts against `missing`: the command
 * launches its replacement. It does not count towards `surplus`, because it is removed anyway. An interrupted node counts for
 * neither, so that its replacement is launched at once.
 */
export function staticCount(pool: NodePool, nodes: readonly StateNode[], isTaken: IsTaken = isMarked): StaticCount {
  const { replicas = 0 } = pool.spec;
  const own = nodes.filter((state) => state.claim !== undefined && poolOf(state) === pool.metadata.name);
  const staying: StateNode[] = [];
  let replaced = 0;
  for (const state of own) {
    const claim = state.claim as NodeClaim;
    const { deletionTimestamp, annotations } = claim.metadata;
    if (deletionTimestamp !== undefined || annotations?.[ANNOTATION_INTERRUPTION] !== undefined) continue;
    if (isTaken(claim) || isClaimGoing(claim)) replaced++;
    else staying.push(state);
  }
  return {
    staying,
    missing: Math.max(0, replicas - staying.length - replaced),
    surplus: Math.max(0, staying.length - replicas),
  };
}

function isMarked({ metadata }: NodeClaim): boolean {
  return metadata.annotations?.[ANNOTATION_DISRUPTION] !== undefined;
}
