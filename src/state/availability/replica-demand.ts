/**
 * How many replicas of a service run on spot and how many on demand, and which pods that have no node yet are for which. The rule is that
 * of SkyServe (SpotHedge, EuroSys 2025): more spot replicas than are needed, and on-demand ones for those that are not ready. Pure.
 */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { LABEL_GROUP_INDEX } from '../../apis/leader-worker-set/labels.ts';
import { parseTimestamp } from '../../platform/clock.ts';
import type { AvailabilityRule } from './availability-rule.ts';

/** What a replica runs on: capacity that can be taken back, or not. Reserved capacity is paid for already and counts as spot. */
export type ReplicaCapacity = 'spot' | 'on-demand';

/** A replica of a service. */
export interface Replica {
  readonly pod: Pod;
  /** Undefined while it has no node. */
  readonly capacity: ReplicaCapacity | undefined;
  readonly ready: boolean;
  /** Neither the pod nor its machine goes. */
  readonly staying: boolean;
}

/** How many replicas there are to be. */
export interface ReplicaDemand {
  readonly spot: number;
  readonly onDemand: number;
}

/** Spot replicas count once they are ready: one that is on its way may be taken back before. On demand never covers the extra ones. */
export function replicaDemand(
  { ready, extra, onDemand }: AvailabilityRule,
  replicas: readonly Replica[],
): ReplicaDemand {
  const spot = ready + extra - onDemand;
  const missing = Math.max(0, spot - readyOn('spot', replicas));
  return { spot, onDemand: Math.min(ready, onDemand + missing) };
}

/** How many replicas serve on such capacity and go on doing so. */
export function readyOn(capacity: ReplicaCapacity, replicas: readonly Replica[]): number {
  return replicas.filter((replica) => replica.capacity === capacity && replica.ready && replica.staying).length;
}

/** How many replicas serve and go on doing so. */
export function readyAndStaying(replicas: readonly Replica[]): number {
  return replicas.filter(({ ready, staying }) => ready && staying).length;
}

/**
 * What each pod is for that has no node yet, or whose node goes and that comes again. The oldest take the free spot places: those that
 * were made last, to fill in, are the ones that go when spot is ready.
 */
export function plannedCapacity(
  demand: ReplicaDemand,
  replicas: readonly Replica[],
): ReadonlyMap<Pod, ReplicaCapacity> {
  const settled = replicas.filter(({ capacity, staying }) => staying && capacity !== undefined);
  const open = replicas
    .filter(({ capacity, staying, pod }) =>
      capacity === undefined ? pod.metadata.deletionTimestamp === undefined : !staying,
    )
    .sort(byAge);
  const spotHeld = settled.filter(({ capacity }) => capacity === 'spot').length;
  const forSpot = Math.max(0, demand.spot - spotHeld);
  const forOnDemand = Math.max(0, demand.onDemand - (settled.length - spotHeld));
  return new Map(
    open.map(({ pod }, index) => [
      pod,
      index >= forSpot && index < forSpot + forOnDemand ? ('on-demand' as const) : ('spot' as const),
    ]),
  );
}

/** By the number of their group, where there are groups; then those that go, as what follows them has no date yet; then by age. */
export function byAge(a: Replica, b: Replica): number {
  const [first, second] = [groupIndex(a), groupIndex(b)];
  if (first !== second) return first - second;
  const going = Number(a.capacity === undefined) - Number(b.capacity === undefined);
  if (going !== 0) return going;
  const made =
    (parseTimestamp(a.pod.metadata.creationTimestamp) ?? 0) - (parseTimestamp(b.pod.metadata.creationTimestamp) ?? 0);
  return made !== 0 ? made : (a.pod.metadata.name ?? '') < (b.pod.metadata.name ?? '') ? -1 : 1;
}

/** The number of the group of a LeaderWorkerSet that a replica is; all others are alike. */
export function groupIndex({ pod }: Pick<Replica, 'pod'>): number {
  const index = Number(pod.metadata.labels?.[LABEL_GROUP_INDEX] ?? 0);
  return Number.isInteger(index) ? index : 0;
}
