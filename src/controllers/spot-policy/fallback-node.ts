/** Fallback nodes: on-demand only because no spot capacity was available. And how long they are kept. Pure. */
import { conditionOf } from '../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { ANNOTATION_SPOT_FALLBACK } from '../../apis/spindrift/annotations.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import { type FallbackFacts, mayReturnToSpot, type ReturnRule } from '../../engine/spot/return-to-spot.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import type { PolicyHold } from '../../state/build-fleet.ts';
import { capacityTypeOf } from '../../state/node-price.ts';
import { ANNOTATION_OFFERINGS, firstOffering, readOfferings } from '../../state/planned-offerings.ts';
import { labelsOf, type StateNode } from '../../state/state-node.ts';

/** Whether a node is a fallback node. */
export function isFallbackNode(state: StateNode): boolean {
  const { annotations = {} } = state.claim?.metadata ?? {};
  const isMarked = annotations[ANNOTATION_SPOT_FALLBACK] === 'true';
  const wanted = isMarked ? 'spot' : firstOffering(annotations[ANNOTATION_OFFERINGS])?.capacityType;
  return wanted === 'spot' && capacityTypeOf(labelsOf(state)) === 'on-demand';
}

/** Facts beside the node that decide whether it is held. */
export interface HoldContext {
  readonly now: EpochMs;
  /** Number of nodes of its pool. */
  readonly nodes: number;
  /** Instance types of its pool. */
  readonly instanceTypes: readonly InstanceType[];
}

/** Why a fallback node is held for now, and until when if only time ends that; undefined if it is not held. */
export function fallbackHold(
  state: StateNode,
  rule: ReturnRule,
  { now, nodes, instanceTypes }: HoldContext,
): PolicyHold | undefined {
  if (!isFallbackNode(state)) return undefined;
  const isUnavailable = (offering: RankedOffering): boolean => !isSold(offering, instanceTypes);
  const judged = mayReturnToSpot(factsOf(state), rule, { now, nodes, returning: 0, isUnavailable });
  // A node that never returns to spot, or not now because of the budget, may still be disrupted for another reason.
  if (judged.kind !== 'held' || judged.by === 'never' || judged.by === 'budget') return undefined;
  const { until, sentence: because } = judged;
  return until === undefined ? { because } : { because, until: until as EpochMs };
}

function factsOf(state: StateNode): FallbackFacts {
  const { claim } = state;
  const launched = claim && conditionOf(claim, 'Launched');
  return {
    capacityType: capacityTypeOf(labelsOf(state)),
    offerings: wantedBy(claim),
    launchedAt: parseTimestamp(launched?.lastTransitionTime ?? claim?.metadata.creationTimestamp),
  };
}

/** The offerings that the claim was planned with, preceded by the spot offerings that were unavailable then. */
function wantedBy(claim: NodeClaim | undefined): RankedOffering[] {
  const { annotations = {} } = claim?.metadata ?? {};
  const planned = readOfferings(annotations[ANNOTATION_OFFERINGS]);
  if (annotations[ANNOTATION_SPOT_FALLBACK] !== 'true') return planned;
  return [...planned.map((offering) => ({ ...offering, capacityType: 'spot' as const })), ...planned];
}

function isSold({ instanceType, zone, capacityType }: RankedOffering, types: readonly InstanceType[]): boolean {
  const offerings = types.find(({ name }) => name === instanceType)?.offerings ?? [];
  return offerings.some(
    (offering) => offering.zone === zone && offering.capacityType === capacityType && offering.healthy !== false,
  );
}
