/** Events about machines that their cloud takes away. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { ANNOTATION_READY_REPLICAS } from '../../apis/spindrift/annotations.ts';
import type { Notice, NoticeKind } from '../../cloud/notice.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';
import { type EpochMs, toTimestamp } from '../../platform/clock.ts';
import type { LoadingTime } from '../../state/model-loading.ts';

/** Karpenter's event reasons where it has one. */
const REASONS: Readonly<Record<NoticeKind, string>> = {
  'spot-interruption': 'SpotInterrupted',
  'reservation-interruption': 'CapacityReservationInstanceInterrupted',
  rebalance: 'SpotRebalanceRecommendation',
  'scheduled-maintenance': 'InstanceMaintenanceScheduled',
  preempted: 'SpotInterrupted',
  stopping: 'InstanceStopping',
  terminated: 'InstanceTerminating',
  'reservation-ending': 'CapacityReservationEnding',
};

const TEN_MINUTES_MS = 600_000;
const HARMLESS: readonly NoticeKind[] = ['rebalance', 'reservation-ending'];

/** A notice about the machine was received. */
export function noticeReceived(object: NodeClaim | Node, { kind, detail, deadline }: Notice): RecordedEvent {
  const when = deadline === undefined ? '' : `, at ${toTimestamp(deadline)}`;
  const type = HARMLESS.includes(kind) ? 'Normal' : 'Warning';
  return { object, type, reason: REASONS[kind], message: `${detail}${when}`, dedupe: [String(deadline ?? '')] };
}

/** The drain of the node begins. */
export function terminatingOnInterruption(object: NodeClaim | Node, because: string): RecordedEvent {
  const message = `Interruption triggered termination: ${because}`;
  return { object, type: 'Warning', reason: 'TerminatingOnInterruption', message, dedupe: [] };
}

/** Why a node without a deadline is not drained yet, and until when it waits. */
export function waitingForPlaces(kind: NoticeKind, pods: readonly Pod[], until: EpochMs): string {
  const [first] = pods;
  const others = pods.length > 1 ? ` and ${pods.length - 1} more pods` : '';
  const then = kind === 'rebalance' ? 'the recommendation is dropped' : 'the node is drained anyway';
  const name = first === undefined ? '' : keyText(keyOf(first));
  return `No other node has room for ${name}${others} yet: waiting until ${toTimestamp(until)}, then ${then}`;
}

/** The drain waits, because no other node has room for the pods. */
export function interruptionWaits(object: NodeClaim | Node, message: string): RecordedEvent {
  return { object, type: 'Warning', reason: 'InterruptionWaiting', message, dedupe: [], quietMs: TEN_MINUTES_MS };
}

/** A rebalance recommendation was dropped, because its pods have no other node. */
export function interruptionDropped(object: NodeClaim | Node, because: string): RecordedEvent {
  const message = `The node stays and is schedulable again: ${because}`;
  return { object, type: 'Warning', reason: 'InterruptionDropped', message, dedupe: [] };
}

/** A model takes longer to load than its machine has left, so replicas will be missing. */
export function loadsTooLate(object: NodeClaim | Node, { model, ms }: LoadingTime, leftMs: number): RecordedEvent {
  const [loading, left] = [Math.round(ms / 1000), Math.max(0, Math.round(leftMs / 1000))];
  const advice = `Keep replicas ready (${ANNOTATION_READY_REPLICAS}) so that others serve meanwhile`;
  const message = `Pods of model ${model} take about ${loading} s to load, and the machine is taken away in ${left} s: these replicas will be missing for a while. ${advice}`;
  return { object, type: 'Warning', reason: 'LoadsTooLate', message, dedupe: [model] };
}
