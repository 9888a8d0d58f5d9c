/** Events of provisioning on pods, NodePools and NodeClaims. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

const FIVE_MINUTES_MS = 300_000;
const MINUTE_MS = 60_000;

export const NOMINATED = 'Nominated';
const NOMINATED_PREFIX = 'Pod should schedule on: ';

/** The pod should schedule on `nodeclaim/NAME` or `node/NAME` soon. */
export function nominated(pod: Pod, where: string): RecordedEvent {
  const message = `${NOMINATED_PREFIX}${where}`;
  return { object: pod, type: 'Normal', reason: NOMINATED, message, dedupe: [where] };
}

/** The places that a Nominated event names: one from `nominated`, or a claim and a node from Karpenter. */
export function nominatedPlaces(message: string): string[] {
  return message.startsWith(NOMINATED_PREFIX) ? message.slice(NOMINATED_PREFIX.length).split(', ') : [];
}

/** The pending pod is unschedulable: no node fits it and none can be launched. */
export function failedScheduling(pod: Pod, why: string): RecordedEvent {
  const message = `Failed to schedule pod, ${why}`;
  return { object: pod, type: 'Warning', reason: 'FailedScheduling', message, quietMs: FIVE_MINUTES_MS };
}

/** The running pod fits nowhere else, and its node is being removed. */
export function noReplacement(pod: Pod, why: string): RecordedEvent {
  const message = `Node ${pod.spec.nodeName} is being removed and the pod fits on no other node, ${why}`;
  return { object: pod, type: 'Warning', reason: 'FailedScheduling', message, quietMs: FIVE_MINUTES_MS };
}

/** A pod of a multi-node group is planned on spot: an interruption of one node restarts the whole group. */
export function groupOnSpot(pod: Pod, size: number): RecordedEvent {
  const message = `The pod belongs to a group of ${size} pods on several nodes, and its node will be spot: when one node of the group is interrupted, all ${size} pods restart. Require karpenter.sh/capacity-type on-demand to avoid that`;
  return { object: pod, type: 'Warning', reason: 'GroupOnSpot', message, quietMs: FIVE_MINUTES_MS };
}

/** The pool can launch no nodes. */
export function noCompatibleInstanceTypes(pool: NodePool, why: string): RecordedEvent {
  return { object: pool, type: 'Warning', reason: 'NoCompatibleInstanceTypes', message: why, quietMs: MINUTE_MS };
}

/** Launches for the pod are backed off: nodes were launched for it, and it runs on none of them. */
export function launchBackedOff(pod: Pod, launches: number, why: string, waitMs: number): RecordedEvent {
  const next = waitMs > 0 ? `the next launch is in ${Math.ceil(waitMs / MINUTE_MS)}m` : 'another node is starting';
  const times = `Nodes were launched ${launches} times for the pod, and it runs on none of them`;
  const message = `${times}; ${next}${why === '' ? '' : `; ${why}`}`;
  return {
    ...{ object: pod, type: 'Warning', reason: 'LaunchBackedOff', message },
    ...{ dedupe: [String(launches)], quietMs: FIVE_MINUTES_MS },
  };
}

/** A node was launched for pods, and none of them runs there. */
export function launchNotUsed(claim: NodeClaim, why: string): RecordedEvent {
  return { object: claim, type: 'Warning', reason: 'LaunchNotUsed', message: why };
}
