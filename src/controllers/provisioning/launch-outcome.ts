/** Whether a launch helped the pods it was planned for. Pure. */
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
 * `coming`: too early to say. `helped`: a planned pod runs on its node, or another pod that was pending at the time; so there are never
 * more launches than pending pods. `unused`: the node is initialized, and no pod runs there that was pending before.
 */
export type LaunchOutcome = 'coming' | 'helped' | 'unused';

/** After this long the scheduler has considered a new node, and the caches show the pods it bound there. */
const LOOKED_AT_MS = 3_000;
/** A pod that fails sooner than this did not run. */
const RAN_MS = 60_000;

/** The outcome of a launch for a demand; `pods` are those on the node that have not ended. */
export function launchOutcome(state: StateNode, demand: string, pods: readonly Pod[], now: EpochMs): LaunchOutcome {
  const { node, claim } = state;
  if (claim === undefined || node === undefined || isOpening(node) || isClaimGoing(claim)) return 'coming';
  if (pods.some((pod) => demandOf(pod) === demand || hadWaited(pod, claim))) return 'helped';
  const initialized = conditionOf(claim, 'Initialized');
  const since = initialized?.status === 'True' ? parseTimestamp(initialized.lastTransitionTime) : undefined;
  return since === undefined || now - since < LOOKED_AT_MS ? 'coming' : 'unused';
}

/** Whether a pod was pending before the claim was created; pods of DaemonSets and the node itself are created later. */
function hadWaited(pod: Pod, claim: NodeClaim): boolean {
  const made = parseTimestamp(pod.metadata.creationTimestamp);
  return made !== undefined && made < madeAt(claim) && !belongsToNode(pod);
}

/** Whether a claim is deleted because its machine did not register in time, not by a person, a disruption or an interruption. */
export function hasNeverJoined(claim: NodeClaim, now: EpochMs, limits: LivenessLimits = LIVENESS_LIMITS): boolean {
  const { deletionTimestamp, annotations = {} } = claim.metadata;
  if (deletionTimestamp === undefined || !isTrue(claim, 'Launched') || isTrue(claim, 'Registered')) return false;
  if (annotations[ANNOTATION_INTERRUPTION] !== undefined || annotations[ANNOTATION_DISRUPTION] !== undefined)
    return false;
  return decideLiveness(claim, now, limits).kind === 'over';
}

/** Whether a pod failed on its node soon after its start, and not because it was deleted with its node. */
export function hasFailedAtOnce({ metadata, status }: Pod, now: EpochMs): boolean {
  if (status?.phase !== 'Failed' || metadata.deletionTimestamp !== undefined) return false;
  return now - (parseTimestamp(status.startTime) ?? now) < RAN_MS;
}

/** Whether a pod has run: it succeeded, or is ready. */
export function hasRun(pod: Pod): boolean {
  const ready = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  return pod.status?.phase === 'Succeeded' || (!hasEnded(pod) && ready);
}

/** When a claim was created. */
export function madeAt({ metadata }: NodeClaim): EpochMs {
  return parseTimestamp(metadata.creationTimestamp) ?? (0 as EpochMs);
}
