/** Nodes that are on-demand only because there was no spot, and how long they are left alone. Pure. */
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

/** Whether a node is such a fallback. */
export function isFallbackNode(state: StateNode): boolean {
  const { annotations = {} } = state.claim?.metadata ?? {};
  const isMarked = annotations[ANNOTATION_SPOT_FALLBACK] === 'true';
  const wanted = isMarked ? 'spot' : firstOffering(annotations[ANNOTATION_OFFERINGS])?.capacityType;
  return wanted === 'spot' && capacityTypeOf(labelsOf(state)) === 'on-demand';
}

/** What else the judgement depends on. */
export interface HoldContext {
  readonly now: EpochMs;
  /** How many nodes its pool has. */
  readonly nodes: number;
  /** What its pool is sold. */
  readonly instanceTypes: readonly InstanceType[];
}

/** Why a fallback is left as it is for now, and until when where time alone ends that; undefined where it is not. */
export function fallbackHold(
  state: StateNode,
  rule: ReturnRule,
  { now, nodes, instanceTypes }: HoldContext,
): PolicyHold | undefined {
  if (!isFallbackNode(state)) return undefined;
  const isUnavailable = (offering: RankedOffering): boolean => !isSold(offering, instanceTypes);
  const judged = mayReturnToSpot(factsOf(state), rule, { now, nodes, returning: 0, isUnavailable });
  // What is never to return, or not now because others do, may still go for another reason.
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

/** What a claim was to be launched as, with the spot before it that was out of the market when it was planned. */
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
