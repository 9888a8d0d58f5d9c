/** Why a node is left as it is for now, whatever it would save. Pure. */
import { conditionOf, isTrue } from '../apis/karpenter/conditions.ts';
import { durationMs, NEVER } from '../apis/karpenter/duration.ts';
import { ANNOTATION_DO_NOT_DISRUPT } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import { ANNOTATION_REPLACES } from '../apis/spindrift/annotations.ts';
import type { Hold } from '../engine/consolidation/fleet.ts';
import { type EpochMs, parseTimestamp } from '../platform/clock.ts';
import { isReady } from './is-ready.ts';
import { isInFlight, isLeaving, type StateNode } from './state-node.ts';

/** A hold, and when it ends by itself. */
export interface NodeHold {
  readonly hold: Hold;
  readonly until?: EpochMs;
}

/** What a hold depends on beside the node. */
export interface HoldCircumstances {
  readonly now: EpochMs;
  readonly pool: NodePool | undefined;
  /** Pods that are not there yet are expected on it. */
  readonly nominated: boolean;
  /** When a pod last came or left, where the claim does not tell of that yet. */
  readonly podEventAt?: EpochMs;
}

/** The first reason that there is. */
export function nodeHold(state: StateNode, circumstances: HoldCircumstances): NodeHold | undefined {
  const { now, pool, nominated, podEventAt } = circumstances;
  const { node, claim } = state;
  if (isLeaving(state)) return { hold: 'leaving' };
  if (isInFlight(state) || node === undefined || !isReady(node)) return { hold: 'not-ready' };
  // It is ready until the machine goes down, and what is put on it till then goes down with it.
  if (claim !== undefined && isTrue(claim, 'Rebooting')) return { hold: 'not-ready' };
  if (pool?.spec.replicas !== undefined) return { hold: 'static-pool' };
  if (isProtected(state)) return { hold: 'do-not-disrupt' };
  if (nominated) return { hold: 'nominated' };
  if (claim === undefined) return undefined;
  const consolidatable = consolidatableAt(claim, pool, podEventAt);
  if (consolidatable <= now) return undefined;
  const hold = 'consolidate-after';
  return Number.isFinite(consolidatable) ? { hold, until: consolidatable as EpochMs } : { hold };
}

/** Until when a node that took the place of others is not replaced itself; undefined for any other node. */
export function settledAt({ claim }: StateNode, cooldownMs: number): EpochMs | undefined {
  if (claim?.metadata.annotations?.[ANNOTATION_REPLACES] === undefined) return undefined;
  return (upSince(claim) + cooldownMs) as EpochMs;
}

/** From when on consolidation may look at the node of a claim: so long after its pods last changed; infinity for never. */
export function consolidatableAt(claim: NodeClaim, pool: NodePool | undefined, podEventAt = 0): number {
  const after = pool?.spec.disruption.consolidateAfter ?? '0s';
  if (after === NEVER) return Number.POSITIVE_INFINITY;
  const changedAt = Math.max(upSince(claim), parseTimestamp(claim.status?.lastPodEventTime) ?? 0, podEventAt);
  return changedAt + (durationMs(after) ?? 0);
}

function upSince(claim: NodeClaim): number {
  const initialized = conditionOf(claim, 'Initialized');
  return parseTimestamp(initialized?.lastTransitionTime ?? claim.metadata.creationTimestamp) ?? 0;
}

/** Only the exact word counts on nodes and claims. */
function isProtected({ node, claim }: StateNode): boolean {
  return [node, claim].some((object) => object?.metadata.annotations?.[ANNOTATION_DO_NOT_DISRUPT] === 'true');
}
