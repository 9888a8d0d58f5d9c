/** Events that the agent writes about its node and pods. */
import type { Node } from '../apis/kubernetes/node.ts';
import { keyOf, keyText } from '../apis/kubernetes/object.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { StatedInterruption } from '../apis/spindrift/interruption-condition.ts';
import type { LateReason } from '../engine/drain/drain-plan.ts';
import { lateSentence } from '../engine/drain/sentence.ts';
import type { RecordedEvent } from '../kube/event-recorder.ts';
import { type EpochMs, toTimestamp } from '../platform/clock.ts';

const TEN_MINUTES_MS = 600_000;

/** The agent received an interruption notice. */
export function interruptionHeard(node: Node, { kind, detail, deadline, source }: StatedInterruption): RecordedEvent {
  const when = deadline === undefined ? '' : `, the machine ends at ${toTimestamp(deadline)}`;
  const type = kind === 'rebalance' ? 'Normal' : 'Warning';
  const message = `${detail}${when} (received from ${source})`;
  return { object: node, type, reason: 'InterruptionHeard', message, dedupe: [kind, String(deadline ?? '')] };
}

/** No controller answers: the agent drains the node itself. */
export function drainingAlone(node: Node, waitedMs: number): RecordedEvent {
  const message = `No controller answered within ${Math.round(waitedMs / 1000)} s: the agent drains the node`;
  return { object: node, type: 'Warning', reason: 'AgentDraining', message, dedupe: [] };
}

/** The controller has taken over. */
export function leftToController(node: Node): RecordedEvent {
  const message = 'A controller drains the node: the agent stops draining it';
  return { object: node, type: 'Normal', reason: 'AgentStoppedDraining', message, dedupe: [] };
}

/** All pods that had to be evicted have left. */
export function drainedAlone(node: Node): RecordedEvent {
  const message = 'All pods that could be evicted have left the node';
  return { object: node, type: 'Normal', reason: 'AgentDrained', message, dedupe: [] };
}

/** The agent evicted the pod. */
export function evictedByAgent(pod: Pod): RecordedEvent {
  const message = 'Evicted pod: its machine is being interrupted';
  return { object: pod, type: 'Normal', reason: 'Evicted', message };
}

/** The machine ends before the pod can terminate. */
export function cannotLeaveInTime(object: Node | Pod, pod: string, deadline: EpochMs, why: LateReason): RecordedEvent {
  const message = `Pod ${pod} cannot terminate before ${toTimestamp(deadline)}, when its machine ends: ${lateSentence(why)}`;
  return { object, type: 'Warning', reason: 'CannotLeaveInTime', message, dedupe: [pod], quietMs: TEN_MINUTES_MS };
}

/** The API server refuses the eviction now. */
export function evictionRefused(node: Node, pod: Pod, why: string): RecordedEvent {
  const name = keyText(keyOf(pod));
  const message = `Failed to drain node, pod ${name} cannot be evicted: ${why}`;
  return { object: node, type: 'Warning', reason: 'FailedDraining', message, dedupe: [name] };
}
