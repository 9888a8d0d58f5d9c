/** Groups of LeaderWorkerSets. The whole group is recreated when one of its pods is evicted. Pure. */
import type { Pod } from '../apis/kubernetes/pod.ts';
import { ANNOTATION_GROUP_SIZE } from '../apis/leader-worker-set/labels.ts';
import { leaderName } from './model-flavors.ts';

/** The number of pods in a pod's group; 1 for pods without a group. */
export function groupSize({ metadata }: Pod): number {
  const size = Number(metadata.annotations?.[ANNOTATION_GROUP_SIZE] ?? 1);
  return Number.isInteger(size) && size > 0 ? size : 1;
}

/** `namespace/leader` of a pod's group; undefined for pods without a group, and for groups of one. */
export function groupName(pod: Pod): string | undefined {
  return groupSize(pod) > 1 ? `${pod.metadata.namespace}/${leaderName(pod) ?? pod.metadata.name}` : undefined;
}

/** The existing pods of a pod's group, by the names that a LeaderWorkerSet gives them: `LEADER`, `LEADER-1`, `LEADER-2` … */
export function groupPods(
  pod: Pod,
  podNamed: (key: { readonly namespace: string; readonly name: string }) => Pod | undefined,
): readonly Pod[] {
  const { namespace = '', name = '' } = pod.metadata;
  const leader = leaderName(pod) ?? name;
  const names = Array.from({ length: groupSize(pod) }, (_, number) => (number === 0 ? leader : `${leader}-${number}`));
  return names.flatMap((each) => podNamed({ namespace, name: each }) ?? []);
}
