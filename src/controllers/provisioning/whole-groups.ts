/**
 * Groups of LeaderWorkerSets serve with all of their pods or not at all, so nodes are made for all of them or for none. Workers may not exist
 * before their leader is ready; room for them is tried for together with the leader, and kept from then on.
 */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { solve } from '../../engine/solve.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import { buildProblem, type ClusterSnapshot } from '../../state/build-problem.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import { groupSize } from '../../state/group-size.ts';
import { leaderName } from '../../state/model-flavors.ts';
import { workersToCome } from '../../state/virtual-workers.ts';
import { failedScheduling } from './events.ts';

export interface WholeGroupsOptions {
  readonly state: Pick<ClusterState, 'informers'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
}

/** The pending pods without those of groups that there is no room for as a whole; the same list where there are none. */
export function wholeGroups(snapshot: ClusterSnapshot, { state, recorder }: WholeGroupsOptions): readonly Pod[] {
  const { pending } = snapshot;
  const groups = Map.groupBy(
    pending.filter((pod) => groupSize(pod) > 1),
    groupOf,
  );
  if (groups.size === 0) return pending;
  const held = new Set<Pod>();
  for (const pods of groups.values()) {
    const all = [...pods, ...pods.flatMap((pod) => workersToCome(pod, state.informers))];
    if (all.length === 1) continue;
    const built = buildProblem({ ...snapshot, pending: all, displaced: [] });
    const { unplaced } = solve(built.problem, { quality: 'fast' });
    const missing = built.held.length + unplaced.reduce((sum, { pods: numbers }) => sum + numbers.length, 0);
    if (missing === 0) continue;
    for (const pod of pods) {
      held.add(pod);
      const why = `its group of ${groupSize(pod)} needs room for all of its pods at once, and there is none for ${missing} of them`;
      recorder.record(failedScheduling(pod, why));
    }
  }
  return held.size === 0 ? pending : pending.filter((pod) => !held.has(pod));
}

function groupOf(pod: Pod): string {
  return `${pod.metadata.namespace}/${leaderName(pod) ?? pod.metadata.name}`;
}
