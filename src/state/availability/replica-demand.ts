/**
 * The number of replicas of a service on spot and on demand, and the capacity of each pod without a node. The rule is that of SkyServe
 * (SpotHedge, EuroSys 2025): more spot replicas than needed, and an on-demand replica for each spot replica that is not ready. Pure.
 */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { LABEL_GROUP_INDEX } from '../../apis/leader-worker-set/labels.ts';
import { parseTimestamp } from '../../platform/clock.ts';
import type { AvailabilityRule } from './availability-rule.ts';

/** The capacity that a replica runs on. Reserved capacity is paid for already and counts as spot. */
export type ReplicaCapacity = 'spot' | 'on-demand';

/** A replica of a service. */
export interface Replica {
  readonly pod: Pod;
  /** Undefined while it has no node. */
  readonly capacity: ReplicaCapacity | undefined;
  readonly ready: boolean;
  /** Neither the pod nor its node is being deleted or interrupted. */
  readonly staying: boolean;
}

/** The number of replicas wanted. */
export interface ReplicaDemand {
  readonly spot: number;
  readonly onDemand: number;
}

/** Spot replicas count once they are ready: spot capacity may be lost before. On-demand replicas never cover the extra ones. */
export function replicaDemand(
  { ready, extra, onDemand }: AvailabilityRule,
  replicas: readonly Replica[],
): ReplicaDemand {
  const spot = ready + extra - onDemand;
  const missing = Math.max(0, spot - readyOn('spot', replicas));
  return { spot, onDemand: Math.min(ready, onDemand + missing) };
}

/** The number of replicas on that capacity that are ready and stay. */
export function readyOn(capacity: ReplicaCapacity, replicas: readonly Replica[]): number {
  return replicas.filter((replica) => replica.capacity === capacity && replica.ready && replica.staying).length;
}

/** The number of replicas that are ready and stay. */
export function readyAndStaying(replicas: readonly Replica[]): number {
  return replicas.filter(({ ready, staying }) => ready && staying).length;
}

/**
 * The capacity planned for each pod without a node, and for each pod that will be recreated because its node is being removed. The oldest
 * get spot: the newest fill in, and are removed when spot is ready.
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

/** By group number; then pods whose node is being removed, because their replacements do not exist yet; then by age. */
export function byAge(a: Replica, b: Replica): number {
  const [first, second] = [groupIndex(a), groupIndex(b)];
  if (first !== second) return first - second;
  const going = Number(a.capacity === undefined) - Number(b.capacity === undefined);
  if (going !== 0) return going;
  const made =
    (parseTimestamp(a.pod.metadata.creationTimestamp) ?? 0) - (parseTimestamp(b.pod.metadata.creationTimestamp) ?? 0);
  return made !== 0 ? made : (a.pod.metadata.name ?? '') < (b.pod.metadata.name ?? '') ? -1 : 1;
}

/** The group number of a replica of a LeaderWorkerSet; 0 for other replicas. */
export function groupIndex({ pod }: Pick<Replica, 'pod'>): number {
  const index = Number(pod.metadata.labels?.[LABEL_GROUP_INDEX] ?? 0);
  return Number.isInteger(index) ? index : 0;
}
