/**
 * A group of a LeaderWorkerSet serves with all of its pods or not at all, so nodes are launched for all of them or for none. Workers may
 * not exist before their leader is ready; their room is planned together with the leader.
 */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { solve } from '../../engine/solve.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import { buildProblem, type ClusterSnapshot } from '../../state/build-problem.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import type { FlavorChoice } from '../../state/flavor-order.ts';
import { podSteps } from '../../state/prepare-pod.ts';
import { isLeader, workersToCome } from '../../state/virtual-workers.ts';
import { groupName, groupSize } from '../../state/worker-group.ts';
import { failedScheduling } from './events.ts';

export interface WholeGroupsOptions {
  readonly state: Pick<ClusterState, 'informers'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
}

/**
 * The snapshot without the pending pods of groups that have no room as a whole. Pods of a group get one flavor, on one capacity type: the
 * first in their order that has room for all of them, beside the groups before it.
 */
export function wholeGroups<Snapshot extends ClusterSnapshot>(
  snapshot: Snapshot,
  { state, recorder }: WholeGroupsOptions,
): Snapshot {
  const { pending } = snapshot;
  const held = new Set<Pod>();
  const chosen = chooseFlavors(pending, snapshot, {
    beside: (pod) => workersToCome(pod, state.informers),
    withoutRoom: (pods, missing) => {
      for (const pod of pods) {
        held.add(pod);
        const why = `its group of ${groupSize(pod)} pods is scheduled as a whole, and ${missing} of them do not fit`;
        recorder.record(failedScheduling(pod, why));
      }
    },
  });
  return chosen === undefined ? snapshot : { ...snapshot, chosen, pending: pending.filter((pod) => !held.has(pod)) };
}

/** The snapshot with one flavor for the pods of a group that leave their nodes together, where a flavor has room for all of them. */
export function wholeMoves<Snapshot extends ClusterSnapshot>(snapshot: Snapshot): Snapshot {
  const chosen = chooseFlavors(snapshot.displaced ?? [], snapshot, { beside: () => [], withoutRoom: () => {} });
  return chosen === undefined ? snapshot : { ...snapshot, chosen };
}

interface GroupCalls {
  /** Pods that need room with a pod and do not exist yet. */
  beside(pod: Pod): readonly Pod[];
  /** Hears of a group for which there is no room, and how many of its pods are without. */
  withoutRoom(pods: readonly Pod[], missing: number): void;
}

/** The flavors of pods that are decided, with those of groups; undefined where there is no group. */
function chooseFlavors(
  pods: readonly Pod[],
  snapshot: ClusterSnapshot,
  { beside, withoutRoom }: GroupCalls,
): Trial['chosen'] | undefined {
  const groups = Map.groupBy(
    pods.filter((pod) => groupName(pod) !== undefined),
    groupName,
  );
  if (groups.size === 0) return undefined;
  let accepted: Trial = { pods: [], chosen: snapshot.chosen ?? new Map() };
  for (const group of groups.values()) {
    const all = [...group, ...group.flatMap(beside)];
    if (all.length === 1) continue;
    const tried = tryGroup(all, accepted, snapshot);
    if (typeof tried === 'number') withoutRoom(group, tried);
    else accepted = tried;
  }
  return accepted.chosen;
}

/** Pods of groups that have room together, and the flavor of each. */
interface Trial {
  readonly pods: readonly Pod[];
  readonly chosen: ReadonlyMap<Pod, FlavorChoice>;
}

/** The accepted groups with one more; where there is no room for all of it, how many pods are without. */
function tryGroup(group: readonly Pod[], accepted: Trial, snapshot: ClusterSnapshot): Trial | number {
  const leader = group.find(isLeader) ?? group[0];
  const steps = leader === undefined ? [] : podSteps(leader, snapshot.models);
  const pods = [...accepted.pods, ...group];
  let fewest = group.length;
  for (const step of 'problem' in steps || steps.length === 0 ? [[undefined]] : steps) {
    const tried = step.map((choice) => {
      const chosen = new Map([
        ...accepted.chosen,
        ...(choice === undefined ? [] : group.map((pod) => [pod, choice] as const)),
      ]);
      const built = buildProblem({ ...snapshot, pending: pods, displaced: [], chosen });
      const { unplaced, price } = solve(built.problem, { quality: 'fast' });
      const missing = built.held.length + unplaced.reduce((sum, { pods: numbers }) => sum + numbers.length, 0);
      return { chosen, price, missing };
    });
    const [cheapest] = tried.filter(({ missing }) => missing === 0).sort((a, b) => a.price - b.price);
    if (cheapest !== undefined) return { pods, chosen: cheapest.chosen };
    fewest = Math.min(fewest, ...tried.map(({ missing }) => missing));
  }
  return fewest;
}
