/** Which pods can be put on a node by us, and what tells which pod takes the place of another. Pure. */
import { LABEL_HOSTNAME } from '../apis/karpenter/labels.ts';
import type { Pod, PodSpec } from '../apis/kubernetes/pod.ts';
import { hasClaim } from './pod-volumes.ts';

const DEFAULT_SCHEDULER = 'default-scheduler';

/**
 * Whether all there is to do for the pod is to bind it: no other scheduler's business, no volume or device to prepare, and
 * no rule about pods on other nodes, where something may have changed since the plan.
 */
export function mayBind({ spec, metadata }: Pod): boolean {
  if ((spec.schedulerName ?? DEFAULT_SCHEDULER) !== DEFAULT_SCHEDULER) return false;
  if (metadata.deletionTimestamp !== undefined || (spec.schedulingGates ?? []).length > 0) return false;
  if (spec.resourceClaims !== undefined || looksBeyondNode(spec)) return false;
  return !spec.volumes?.some(hasClaim);
}

/** Whether the pod that comes when this one is evicted can be put where a plan wants it. */
export function isSteerable(pod: Pod): boolean {
  return ownerOf(pod) !== undefined && mayBind(pod);
}

/** The UID of what makes another pod like this one when it is gone. */
export function ownerOf({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

/** Whether pods of other nodes can keep this one away. A spread is evened out by those that follow; these rules are not. */
function looksBeyondNode({ affinity }: PodSpec): boolean {
  const { podAffinity, podAntiAffinity } = affinity ?? {};
  return [podAffinity, podAntiAffinity].some((rules) =>
    rules?.requiredDuringSchedulingIgnoredDuringExecution?.some(({ topologyKey }) => topologyKey !== LABEL_HOSTNAME),
  );
}
