/** Why consolidation must leave a node alone for now. Pure. */
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

/** Facts besides the node that decide a hold. */
export interface HoldCircumstances {
  readonly now: EpochMs;
  readonly pool: NodePool | undefined;
  /** The node is nominated for pods that are not bound yet. */
  readonly nominated: boolean;
  /** The last pod event, if the claim does not show it yet. */
  readonly podEventAt?: EpochMs;
}

/** The first hold that applies. */
export function nodeHold(state: StateNode, circumstances: HoldCircumstances): NodeHold | undefined {
  const { now, pool, nominated, podEventAt } = circumstances;
  const { node, claim } = state;
  if (isLeaving(state)) return { hold: 'leaving' };
  if (isInFlight(state) || node === undefined || !isReady(node)) return { hold: 'not-ready' };
  // The node stays ready until the machine goes down, and pods bound until then are lost with it.
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

/** Until when a replacement node must not be replaced itself; undefined for any other node. */
export function settledAt({ claim }: StateNode, cooldownMs: number): EpochMs | undefined {
  if (claim?.metadata.annotations?.[ANNOTATION_REPLACES] === undefined) return undefined;
  return (upSince(claim) + cooldownMs) as EpochMs;
}

/** When the node of a claim becomes consolidatable: `consolidateAfter` after its last pod event; infinity for never. */
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

/** On nodes and claims, only the exact value `true` counts. */
function isProtected({ node, claim }: StateNode): boolean {
  return [node, claim].some((object) => object?.metadata.annotations?.[ANNOTATION_DO_NOT_DISRUPT] === 'true');
}
