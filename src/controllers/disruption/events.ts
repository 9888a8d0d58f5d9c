/** Events about disruptions. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';
import type { CommandReason } from './commands/command.ts';

const QUARTER_MS = 15 * 60_000;

/** Why a node, claim or pool that is due for disruption is not disrupted. */
export function disruptionBlocked(object: KubeObject, why: string): RecordedEvent {
  const message = `Cannot disrupt ${object.kind}: ${why}`;
  return { object, type: 'Normal', reason: 'DisruptionBlocked', message, quietMs: QUARTER_MS };
}

/** A disruption that had begun was undone. */
export function disruptionUndone(object: KubeObject, why: string): RecordedEvent {
  const message = `Disruption of ${object.kind} undone: ${why}`;
  return { object, type: 'Warning', reason: 'DisruptionBlocked', message };
}

/** The claim is a replacement. */
export function disruptionLaunching(claim: NodeClaim, reason: CommandReason): RecordedEvent {
  const message = `Launching NodeClaim: ${reason}`;
  return { object: claim, type: 'Normal', reason: 'DisruptionLaunching', message };
}

/** A disruption waits until the node of this replacement is ready. */
export function disruptionWaitingReadiness(claim: NodeClaim): RecordedEvent {
  const message = 'Waiting on readiness to continue disruption';
  return { object: claim, type: 'Normal', reason: 'DisruptionWaitingReadiness', message };
}

/** The claim is deleted now, which drains its node. */
export function disruptionTerminating(object: KubeObject, reason: CommandReason): RecordedEvent {
  const message = `Disrupting ${object.kind}: ${reason}`;
  return { object, type: 'Normal', reason: 'DisruptionTerminating', message };
}

/** Too many nodes of the pool are unhealthy at once, so none is repaired. */
export function nodeRepairBlocked(object: KubeObject, why: string): RecordedEvent {
  return { object, type: 'Warning', reason: 'NodeRepairBlocked', message: why, quietMs: QUARTER_MS };
}

/** Nodes of one group are disrupted together, although the budgets of their pool allow fewer at once. */
export function groupExceedsBudget(
  pool: NodePool,
  parts: {
    readonly nodes: readonly string[];
    readonly limit: number;
    readonly reason: CommandReason;
    readonly group: string;
  },
): RecordedEvent {
  const { nodes, limit, reason, group } = parts;
  const message = `Disrupting nodes ${nodes.join(', ')} together for the reason ${reason}, although the budgets allow ${limit} at once: they run pods of ${group}. Other nodes of the NodePool wait`;
  return { object: pool, type: 'Normal', reason: 'GroupExceedsBudget', message, quietMs: QUARTER_MS };
}
