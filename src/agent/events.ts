/** What people are told by an agent about its node. */
import type { Node } from '../apis/kubernetes/node.ts';
import { keyOf, keyText } from '../apis/kubernetes/object.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { StatedInterruption } from '../apis/spindrift/interruption-condition.ts';
import type { LateReason } from '../engine/drain/drain-plan.ts';
import { lateSentence } from '../engine/drain/sentence.ts';
import type { RecordedEvent } from '../kube/event-recorder.ts';
import { type EpochMs, toTimestamp } from '../platform/clock.ts';

const TEN_MINUTES_MS = 600_000;

/** The agent has heard something about the machine. */
export function interruptionHeard(node: Node, { kind, detail, deadline, source }: StatedInterruption): RecordedEvent {
  const when = deadline === undefined ? '' : `, the machine goes at ${toTimestamp(deadline)}`;
  const type = kind === 'rebalance' ? 'Normal' : 'Warning';
  const message = `${detail}${when} (heard from ${source})`;
  return { object: node, type, reason: 'InterruptionHeard', message, dedupe: [kind, String(deadline ?? '')] };
}

/** Nobody answers, and the machine goes: the agent drains the node itself. */
export function drainingAlone(node: Node, waitedMs: number): RecordedEvent {
  const message = `No controller answered within ${Math.round(waitedMs / 1000)} s: draining the node from the node itself`;
  return { object: node, type: 'Warning', reason: 'AgentDraining', message, dedupe: [] };
}

/** The controller has taken over. */
export function leftToController(node: Node): RecordedEvent {
  const message = 'A controller drains the node; the agent leaves it to it';
  return { object: node, type: 'Normal', reason: 'AgentStoppedDraining', message, dedupe: [] };
}

/** All pods that had to leave have left. */
export function drainedAlone(node: Node): RecordedEvent {
  const message = 'All pods that could be evicted have left the node';
  return { object: node, type: 'Normal', reason: 'AgentDrained', message, dedupe: [] };
}

/** The pod was asked to leave. */
export function evictedByAgent(pod: Pod): RecordedEvent {
  const message = 'Evicted pod: its machine is taken away';
  return { object: pod, type: 'Normal', reason: 'Evicted', message };
}

/** The machine goes before the pod can leave it. */
export function cannotLeaveInTime(object: Node | Pod, pod: string, deadline: EpochMs, why: LateReason): RecordedEvent {
  const message = `Pod ${pod} cannot leave before ${toTimestamp(deadline)}, when its machine goes: ${lateSentence(why)}`;
  return { object, type: 'Warning', reason: 'CannotLeaveInTime', message, dedupe: [pod], quietMs: TEN_MINUTES_MS };
}

/** The API server does not let the pod go now. */
export function evictionRefused(node: Node, pod: Pod, why: string): RecordedEvent {
  const name = keyText(keyOf(pod));
  const message = `Failed to drain node, pod ${name} cannot be evicted: ${why}`;
  return { object: node, type: 'Warning', reason: 'FailedDraining', message, dedupe: [name] };
}
