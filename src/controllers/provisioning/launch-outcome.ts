/** Whether the launch of a claim has helped the pods it was planned for. Pure. */
import { conditionOf, isTrue } from '../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_INTERRUPTION } from '../../apis/spindrift/annotations.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { hasEnded } from '../../state/has-ended.ts';
import { demandOf } from '../../state/planned-for.ts';
import { isClaimGoing, isOpening, type StateNode } from '../../state/state-node.ts';
import { decideLiveness, LIVENESS_LIMITS, type LivenessLimits } from '../nodeclaim/lifecycle/decide-liveness.ts';
import { belongsToNode } from './plan-gap.ts';

/**
 * `coming`: too early to say. `helped`: a pod that it was planned for came to it, or another that was pending when it was planned; so no
 * more launches are made than there are pending pods. `unused`: the node is up, and no pod came that had waited for one.
 */
export type LaunchOutcome = 'coming' | 'helped' | 'unused';

/** The scheduler has had a look at a node that has been open for so long, and the caches show where it put pods. */
const LOOKED_AT_MS = 3_000;
/** A pod that ends in failure before this did not run. */
const RAN_MS = 60_000;

/** What has become of a launch for a demand; `pods` are those on the node, ended ones left out. */
export function launchOutcome(state: StateNode, demand: string, pods: readonly Pod[], now: EpochMs): LaunchOutcome {
  const { node, claim } = state;
  if (claim === undefined || node === undefined || isOpening(node) || isClaimGoing(claim)) return 'coming';
  if (pods.some((pod) => demandOf(pod) === demand || hadWaited(pod, claim))) return 'helped';
  const initialized = conditionOf(claim, 'Initialized');
  const since = initialized?.status === 'True' ? parseTimestamp(initialized.lastTransitionTime) : undefined;
  return since === undefined || now - since < LOOKED_AT_MS ? 'coming' : 'unused';
}

/** Whether a pod was there before the claim was made, and needed a node as well: one that comes with the node is made later. */
function hadWaited(pod: Pod, claim: NodeClaim): boolean {
  const made = parseTimestamp(pod.metadata.creationTimestamp);
  return made !== undefined && made < madeAt(claim) && !belongsToNode(pod);
}

/** Whether a claim goes because its machine has not become a node in time; one that a person deletes or a cloud takes says nothing. */
export function hasNeverJoined(claim: NodeClaim, now: EpochMs, limits: LivenessLimits = LIVENESS_LIMITS): boolean {
  const { deletionTimestamp, annotations = {} } = claim.metadata;
  if (deletionTimestamp === undefined || !isTrue(claim, 'Launched') || isTrue(claim, 'Registered')) return false;
  if (annotations[ANNOTATION_INTERRUPTION] !== undefined || annotations[ANNOTATION_DISRUPTION] !== undefined)
    return false;
  return decideLiveness(claim, now, limits).kind === 'over';
}

/** Whether a pod came to its node and failed there without having run for a while; a node that goes takes its pods with it. */
export function hasFailedAtOnce({ metadata, status }: Pod, now: EpochMs): boolean {
  if (status?.phase !== 'Failed' || metadata.deletionTimestamp !== undefined) return false;
  return now - (parseTimestamp(status.startTime) ?? now) < RAN_MS;
}

/** Whether a pod has done what a node was launched for. */
export function hasRun(pod: Pod): boolean {
  const ready = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  return pod.status?.phase === 'Succeeded' || (!hasEnded(pod) && ready);
}

/** When a claim was made. */
export function madeAt({ metadata }: NodeClaim): EpochMs {
  return parseTimestamp(metadata.creationTimestamp) ?? (0 as EpochMs);
}
