/** Which pods Spindrift can bind to a node itself, and which pods replace each other. Pure. */
import { LABEL_HOSTNAME } from '../apis/karpenter/labels.ts';
import type { Pod, PodSpec } from '../apis/kubernetes/pod.ts';
import { hasClaim } from './pod-volumes.ts';

const DEFAULT_SCHEDULER = 'default-scheduler';

/**
 * Whether Spindrift may bind the pod itself: it uses the default scheduler, has no volume or device to prepare, and no affinity to pods on
 * other nodes, which may have changed since the plan.
 */
export function mayBind({ spec, metadata }: Pod): boolean {
  if ((spec.schedulerName ?? DEFAULT_SCHEDULER) !== DEFAULT_SCHEDULER) return false;
  if (metadata.deletionTimestamp !== undefined || (spec.schedulingGates ?? []).length > 0) return false;
  if (spec.resourceClaims !== undefined || looksBeyondNode(spec)) return false;
  return !spec.volumes?.some(hasClaim);
}

/** Whether the replacement of an evicted pod can be bound to the node that a plan chooses. */
export function isSteerable(pod: Pod): boolean {
  return ownerOf(pod) !== undefined && mayBind(pod);
}

/** The UID of the controller that recreates the pod. */
export function ownerOf({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

/** Whether pods on other nodes can make a node unsuitable. Topology spread is ignored: later pods even it out. */
function looksBeyondNode({ affinity }: PodSpec): boolean {
  const { podAffinity, podAntiAffinity } = affinity ?? {};
  return [podAffinity, podAntiAffinity].some((rules) =>
    rules?.requiredDuringSchedulingIgnoredDuringExecution?.some(({ topologyKey }) => topologyKey !== LABEL_HOSTNAME),
  );
}
