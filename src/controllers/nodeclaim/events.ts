/** Events about NodeClaims. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

const TEN_MINUTES_MS = 600_000;

/** No offering that the claim allows has capacity. */
export function insufficientCapacity(claim: NodeClaim, why: string): RecordedEvent {
  return noCapacityFor(claim, claim, why);
}

/** The same on an object that waits for the claim's node. */
export function noCapacityFor(object: KubeObject, claim: NodeClaim, why: string): RecordedEvent {
  const message = `NodeClaim ${claim.metadata.name} event: ${why}`;
  return { object, type: 'Warning', reason: 'InsufficientCapacityError', message };
}

/** The claim's node class is not ready for launches. */
export function nodeClassNotReady(claim: NodeClaim, why: string): RecordedEvent {
  const message = `NodeClaim ${claim.metadata.name} event: ${why}`;
  return { object: claim, type: 'Warning', reason: 'NodeClassNotReady', message };
}

/** The launch failed and will be tried again. */
export function launchFailed(claim: NodeClaim, why: string): RecordedEvent {
  return { object: claim, type: 'Warning', reason: 'LaunchFailed', message: why, dedupe: [] };
}

/** The machine was launched and is gone before its claim recorded it. */
export function instanceGone(claim: NodeClaim, why: string): RecordedEvent {
  return { object: claim, type: 'Warning', reason: 'InstanceGone', message: why };
}

/** A step of the claim timed out; the claim is given up. */
export function stepTimedOut(claim: NodeClaim, reason: string, message: string): RecordedEvent {
  return { object: claim, type: 'Warning', reason, message };
}

/** The node joined without the taint that keeps pods off it until it is registered. */
export function unregisteredTaintMissing(claim: NodeClaim): RecordedEvent {
  const message = 'Missing karpenter.sh/unregistered taint which prevents registration related race conditions';
  return { object: claim, type: 'Warning', reason: 'UnregisteredTaintMissing', message };
}

/** The machine cannot be terminated, or terminates too slowly. */
export function failedTermination(object: NodeClaim | Node, why: string): RecordedEvent {
  const message = `Failed to terminate the instance: ${why}`;
  return { object, type: 'Warning', reason: 'FailedTermination', message, dedupe: [], quietMs: TEN_MINUTES_MS };
}

/** The claim is deleted, because its machine no longer exists. */
export function garbageCollected(claim: NodeClaim): RecordedEvent {
  const message = `The instance ${claim.status?.providerID ?? ''} no longer exists`;
  return { object: claim, type: 'Warning', reason: 'InstanceGone', message };
}

/** The claim is deleted, because its node was removed and nothing can run on its machine. */
export function nodeGone(claim: NodeClaim): RecordedEvent {
  const message = `The node ${claim.status?.nodeName ?? ''} was removed, and its machine has not joined again`;
  return { object: claim, type: 'Warning', reason: 'NodeGone', message };
}

/** The reservation has ended, and the machine has another capacity type from now on. */
export function capacityTypeChanged(claim: NodeClaim, from: string, to: string): RecordedEvent {
  const message = `The instance is no longer ${from} but ${to}: its reservation has ended`;
  return { object: claim, type: 'Normal', reason: 'CapacityTypeChanged', message };
}

/** The cloud reboots the machine of an unhealthy node. */
export function nodeRebooting(claim: NodeClaim): RecordedEvent {
  const message = `The instance of node ${claim.status?.nodeName ?? ''} is rebooted, because the node is unhealthy`;
  return { object: claim, type: 'Normal', reason: 'NodeRebooting', message };
}

/** The node is ready again after its reboot. */
export function nodeRebooted(claim: NodeClaim): RecordedEvent {
  const message = `Node ${claim.status?.nodeName ?? ''} is ready again after its reboot`;
  return { object: claim, type: 'Normal', reason: 'NodeRebooted', message };
}

/** The reboot failed, and the node is replaced. */
export function nodeRebootFailed(claim: NodeClaim, why: string): RecordedEvent {
  const message = `Node ${claim.status?.nodeName ?? ''} is replaced: ${why}`;
  return { object: claim, type: 'Warning', reason: 'NodeRebootFailed', message };
}
