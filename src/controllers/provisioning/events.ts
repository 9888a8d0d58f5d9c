/** What provisioning tells people about pods and pools. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

const FIVE_MINUTES_MS = 300_000;
const MINUTE_MS = 60_000;

export const NOMINATED = 'Nominated';
const NOMINATED_PREFIX = 'Pod should schedule on: ';

/** Where the pod should be able to run soon: `nodeclaim/NAME` or `node/NAME`. */
export function nominated(pod: Pod, where: string): RecordedEvent {
  const message = `${NOMINATED_PREFIX}${where}`;
  return { object: pod, type: 'Normal', reason: NOMINATED, message, dedupe: [where] };
}

/** Where a pod was told that it should run: what was said in `nominated`, or by Karpenter, which names both. */
export function nominatedPlaces(message: string): string[] {
  return message.startsWith(NOMINATED_PREFIX) ? message.slice(NOMINATED_PREFIX.length).split(', ') : [];
}

/** Why no node is made for the pod. */
export function failedScheduling(pod: Pod, why: string): RecordedEvent {
  const message = `Failed to schedule pod, ${why}`;
  return { object: pod, type: 'Warning', reason: 'FailedScheduling', message, quietMs: FIVE_MINUTES_MS };
}

/** Why a pod that runs will have no other place when its node goes. */
export function noReplacement(pod: Pod, why: string): RecordedEvent {
  const message = `Node ${pod.spec.nodeName} goes and there is no other place for the pod, ${why}`;
  return { object: pod, type: 'Warning', reason: 'FailedScheduling', message, quietMs: FIVE_MINUTES_MS };
}

/** A pod that serves with others is to run on a machine that may be taken back: losing one of them ends the whole group. */
export function groupOnSpot(pod: Pod, size: number): RecordedEvent {
  const message = `The pod is one of a group of ${size} on several nodes, and its node will be spot: when one machine of the group is taken back, all ${size} pods start anew. Select on-demand machines (karpenter.sh/capacity-type) to avoid that`;
  return { object: pod, type: 'Warning', reason: 'GroupOnSpot', message, quietMs: FIVE_MINUTES_MS };
}

/** Why a pool makes no nodes. */
export function noCompatibleInstanceTypes(pool: NodePool, why: string): RecordedEvent {
  return { object: pool, type: 'Warning', reason: 'NoCompatibleInstanceTypes', message: why, quietMs: MINUTE_MS };
}

/** Nodes were launched for the pod, it runs on none of them, and the next one waits. */
export function launchBackedOff(pod: Pod, launches: number, why: string, waitMs: number): RecordedEvent {
  const next =
    waitMs > 0 ? `the next one is launched in ${Math.ceil(waitMs / MINUTE_MS)}m` : 'another one is on its way';
  const times = `${launches} times nodes were launched for the pod, and it runs on none of them`;
  const message = `${times}; ${next}${why === '' ? '' : `; ${why}`}`;
  return {
    ...{ object: pod, type: 'Warning', reason: 'LaunchBackedOff', message },
    ...{ dedupe: [String(launches)], quietMs: FIVE_MINUTES_MS },
  };
}

/** A node was launched for pods, and none of them came to run there. */
export function launchNotUsed(claim: NodeClaim, why: string): RecordedEvent {
  return { object: claim, type: 'Warning', reason: 'LaunchNotUsed', message: why };
}
