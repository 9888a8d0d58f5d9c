/** Events about draining nodes and their pods. */
import type { Node } from '../../apis/kubernetes/node.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { LateReason } from '../../engine/drain/drain-plan.ts';
import { lateSentence } from '../../engine/drain/sentence.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';
import { type EpochMs, toTimestamp } from '../../platform/clock.ts';

const TEN_MINUTES_MS = 600_000;

/** The pod was evicted. */
export function evicted(pod: Pod): RecordedEvent {
  return { object: pod, type: 'Normal', reason: 'Evicted', message: 'Evicted pod: its node is being terminated' };
}

/** The pod was deleted without an eviction, because the deadline of its node leaves no more time. */
export function disrupted(pod: Pod, deadline: EpochMs): RecordedEvent {
  const message = `Deleted the pod without an eviction, so that it has ended by ${toTimestamp(deadline)}, when its node is terminated`;
  return { object: pod, type: 'Normal', reason: 'Disrupted', message, dedupe: [] };
}

/** The pod was deleted, because its machine no longer exists. */
export function machineGone(pod: Pod): RecordedEvent {
  const message = 'Deleted the pod: its machine no longer exists';
  return { object: pod, type: 'Warning', reason: 'Disrupted', message };
}

/** The eviction of a pod is refused. */
export function podNotEvicted(node: Node, pod: Pod, why: string): RecordedEvent {
  const name = keyText(keyOf(pod));
  const message = `Failed to drain node, pod ${name} cannot be evicted: ${why}`;
  return { object: node, type: 'Warning', reason: 'FailedDraining', message, dedupe: [name] };
}

/** The drain waits for pods with do-not-disrupt. */
export function waitingForHeldPods(node: Node, names: string): RecordedEvent {
  const message = `Failed to drain node, waiting for pods with karpenter.sh/do-not-disrupt: ${names}`;
  return { object: node, type: 'Warning', reason: 'FailedDraining', message, dedupe: ['held', names] };
}

/** The machine of the node is taken away before the pod can leave it. */
export function cannotLeaveInTime(object: Node | Pod, pod: string, deadline: EpochMs, why: LateReason): RecordedEvent {
  const message = `Pod ${pod} cannot leave before ${toTimestamp(deadline)}, when its machine is taken away: ${lateSentence(why)}`;
  return { object, type: 'Warning', reason: 'CannotLeaveInTime', message, dedupe: [pod], quietMs: TEN_MINUTES_MS };
}

/** When the remaining pods are deleted without an eviction. */
export function terminationGracePeriodExpiring(node: Node, deadline: EpochMs): RecordedEvent {
  const message = `All pods will be deleted by ${toTimestamp(deadline)}`;
  return { object: node, type: 'Warning', reason: 'TerminationGracePeriodExpiring', message };
}

/** Volumes are still attached. */
export function awaitingVolumeDetachment(node: Node, names: readonly string[]): RecordedEvent {
  const message = `Awaiting deletion of bound volumeattachments (${names.join(', ')})`;
  return { object: node, type: 'Normal', reason: 'AwaitingVolumeDetachment', message };
}
