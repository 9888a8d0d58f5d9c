/** The PodScheduled condition of a pod that could not be scheduled. */
import type { Condition } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';

/** The status patch; undefined if the pod already has this condition. */
export function notScheduled(
  pod: Pod,
  reason: 'Unschedulable' | 'SchedulingGated' | 'SchedulerError',
  message: string,
  now: string,
): object | undefined {
  const known = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (known?.status === 'False' && known.reason === reason && known.message === message) return undefined;
  const condition: Condition & { readonly lastProbeTime: null } = {
    type: 'PodScheduled',
    status: 'False',
    reason,
    message,
    lastProbeTime: null,
    lastTransitionTime: known?.status === 'False' ? (known.lastTransitionTime ?? now) : now,
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
  };
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  return { status: { conditions: [...others, condition] } };
}
