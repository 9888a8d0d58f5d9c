import type { Condition } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';

/** The pod's conditions with DisruptionTarget, which says why the cluster ends the pod. */
export function withDisruptionTarget(pod: Pod, reason: string, message: string, now: string): readonly Condition[] {
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget');
  const { generation } = pod.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  return [
    ...others,
    { type: 'DisruptionTarget', status: 'True', reason, message, lastTransitionTime: now, ...observed },
  ];
}
