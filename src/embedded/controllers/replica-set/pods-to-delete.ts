/** Which pods a ReplicaSet deletes first (the order of kube-controller-manager). */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import { parseTimestamp } from '../../../platform/clock.ts';
import { isReady, restartsOf } from '../pod-facts.ts';

const COST = 'controller.kubernetes.io/pod-deletion-cost';
const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/** Picks `count` pods to delete, the least useful first. `related` are the pods counted per node to find crowded nodes. */
export function podsToDelete(pods: readonly Pod[], count: number, related: readonly Pod[] = pods): Pod[] {
  if (count >= pods.length) return [...pods];
  const crowd = new Map<string, number>();
  for (const pod of related) {
    const node = pod.spec.nodeName ?? '';
    crowd.set(node, (crowd.get(node) ?? 0) + 1);
  }
  const rank = (pod: Pod): readonly number[] => [
    pod.spec.nodeName ? 1 : 0,
    PHASES[pod.status?.phase ?? 'Pending'] ?? 1,
    isReady(pod) ? 1 : 0,
    Number(pod.metadata.annotations?.[COST] ?? 0) || 0,
    -(crowd.get(pod.spec.nodeName ?? '') ?? 0),
    -(readySince(pod) ?? 0),
    -restartsOf(pod),
    -(parseTimestamp(pod.metadata.creationTimestamp) ?? 0),
  ];
  return pods
    .map((pod) => ({ pod, rank: rank(pod) }))
    .sort((a, b) => compareRanks(a.rank, b.rank) || ((a.pod.metadata.uid ?? '') < (b.pod.metadata.uid ?? '') ? -1 : 1))
    .slice(0, count)
    .map(({ pod }) => pod);
}

function readySince(pod: Pod): number | undefined {
  const ready = pod.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'True');
  return parseTimestamp(ready?.lastTransitionTime);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < a.length; index++) {
    const difference = (a[index] as number) - (b[index] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
