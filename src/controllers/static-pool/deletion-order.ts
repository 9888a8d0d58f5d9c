/** Which nodes of a static pool are deleted first when its replicas are lowered. Pure. */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { durationMs } from '../../apis/karpenter/duration.ts';
import { ANNOTATION_DO_NOT_DISRUPT } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { isReschedulable } from '../../state/cluster-state.ts';
import { doNotDisruptUntil } from '../../state/do-not-disrupt.ts';
import { evictionCost } from '../../state/eviction-cost.ts';
import { ANNOTATION_OFFERINGS, firstOffering } from '../../state/planned-offerings.ts';
import { isInFlight, type StateNode } from '../../state/state-node.ts';

interface Ranked {
  readonly state: StateNode;
  /** 0 not launched, 1 not up, 2 empty, 3 with pods, 4 with pods that must not be disrupted. */
  readonly rank: number;
  /** Eviction cost of its pods, less for a node near expiry. */
  readonly cost: number;
  /** A drifted node would have to be replaced anyway. */
  readonly drifted: boolean;
  readonly price: number;
}

/**
 * Sorts nodes by how little their deletion disturbs: not launched, not up, empty, then by the cost of evicting their pods. Nodes
 * with `do-not-disrupt` come last. Ties: drifted nodes first, then the dearer ones, then by name.
 */
export function deletionOrder(
  nodes: readonly StateNode[],
  podsOn: (node: string) => readonly Pod[],
  now: EpochMs,
): StateNode[] {
  return nodes
    .map((state) => ranked(state, podsOn(state.name), now))
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        a.cost - b.cost ||
        Number(b.drifted) - Number(a.drifted) ||
        b.price - a.price ||
        (a.state.name < b.state.name ? -1 : 1),
    )
    .map(({ state }) => state);
}

function ranked(state: StateNode, pods: readonly Pod[], now: EpochMs): Ranked {
  const { claim } = state;
  const moving = pods.filter(isReschedulable);
  const cost = moving.reduce((sum, pod) => sum + evictionCost(pod), 0) * lifeLeft(claim, now);
  return {
    state,
    rank: rankOf(state, pods, moving.length, now),
    cost,
    drifted: claim !== undefined && isTrue(claim, 'Drifted'),
    price: firstOffering(claim?.metadata.annotations?.[ANNOTATION_OFFERINGS])?.price ?? 0,
  };
}

function rankOf(state: StateNode, pods: readonly Pod[], moving: number, now: EpochMs): number {
  const { node, claim } = state;
  const isProtected = [node, claim].some(
    (object) => object?.metadata.annotations?.[ANNOTATION_DO_NOT_DISRUPT] === 'true',
  );
  if (isProtected || pods.some((pod) => (doNotDisruptUntil(pod) ?? 0) > now)) return 4;
  if (moving > 0) return 3;
  if (claim?.status?.providerID === undefined) return 0;
  return isInFlight(state) ? 1 : 2;
}

/** The share of its lifetime that a node has left; 1 if it does not expire. */
function lifeLeft(claim: NodeClaim | undefined, now: EpochMs): number {
  const createdAt = parseTimestamp(claim?.metadata.creationTimestamp);
  const livesMs = durationMs(claim?.spec.expireAfter ?? '');
  if (createdAt === undefined || livesMs === undefined || livesMs === 0) return 1;
  return Math.min(1, Math.max(0, (createdAt + livesMs - now) / livesMs));
}
