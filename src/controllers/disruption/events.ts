/** What people are told about disruptions. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';
import type { CommandReason } from './commands/command.ts';

const QUARTER_MS = 15 * 60_000;

/** A node, claim or pool that would be disrupted is not, and why. */
export function disruptionBlocked(object: KubeObject, why: string): RecordedEvent {
  const message = `Cannot disrupt ${object.kind}: ${why}`;
  return { object, type: 'Normal', reason: 'DisruptionBlocked', message, quietMs: QUARTER_MS };
}

/** A disruption that had begun is taken back. */
export function disruptionUndone(object: KubeObject, why: string): RecordedEvent {
  const message = `Disruption of ${object.kind} undone: ${why}`;
  return { object, type: 'Warning', reason: 'DisruptionBlocked', message };
}

/** The claim was written in place of others. */
export function disruptionLaunching(claim: NodeClaim, reason: CommandReason): RecordedEvent {
  const message = `Launching NodeClaim: ${reason}`;
  return { object: claim, type: 'Normal', reason: 'DisruptionLaunching', message };
}

/** Others go as soon as the claim's node is up. */
export function disruptionWaitingReadiness(claim: NodeClaim): RecordedEvent {
  const message = 'Waiting on readiness to continue disruption';
  return { object: claim, type: 'Normal', reason: 'DisruptionWaitingReadiness', message };
}

/** The node, or its claim, goes now. */
export function disruptionTerminating(object: KubeObject, reason: CommandReason): RecordedEvent {
  const message = `Disrupting ${object.kind}: ${reason}`;
  return { object, type: 'Normal', reason: 'DisruptionTerminating', message };
}

/** So many nodes of the pool are sick that the fault is not theirs. */
export function nodeRepairBlocked(object: KubeObject, why: string): RecordedEvent {
  return { object, type: 'Warning', reason: 'NodeRepairBlocked', message: why, quietMs: QUARTER_MS };
}
