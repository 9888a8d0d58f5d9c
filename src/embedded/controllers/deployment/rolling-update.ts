/** Moves the pods of a Deployment from old ReplicaSets to the new one, step by step. Pure. */
import type { Deployment, ReplicaSet } from '../../../apis/kubernetes/workloads.ts';
import {
  DESIRED_REPLICAS,
  desiredReplicas,
  isRecreate,
  MAX_REPLICAS,
  oldestFirst,
  rollingBounds,
  specReplicas,
  statusCount,
} from './deployment-facts.ts';

export interface Scaling {
  readonly replicaSet: ReplicaSet;
  readonly replicas: number;
}

/** How many pods the new ReplicaSet may have now, given the size of all ReplicaSets. */
export function newReplicas(deployment: Deployment, all: readonly ReplicaSet[], current: number): number {
  const desired = desiredReplicas(deployment);
  if (isRecreate(deployment)) return desired;
  const room = desired + rollingBounds(deployment).maxSurge - specReplicas(all);
  return room <= 0 ? current : current + Math.min(room, desired - current);
}

/** The next step of a rolling update: scales up the new ReplicaSet if there is room, otherwise scales down the old ones. */
export function rollingStep(deployment: Deployment, fresh: ReplicaSet, old: readonly ReplicaSet[]): Scaling[] {
  const desired = desiredReplicas(deployment);
  const current = fresh.spec.replicas ?? 0;
  if (current !== desired) {
    const replicas = current > desired ? desired : newReplicas(deployment, [...old, fresh], current);
    if (replicas !== current) return [{ replicaSet: fresh, replicas }];
  }
  return scaleDownOld(deployment, fresh, old);
}

function scaleDownOld(deployment: Deployment, fresh: ReplicaSet, old: readonly ReplicaSet[]): Scaling[] {
  if (specReplicas(old) === 0) return [];
  const least = desiredReplicas(deployment) - rollingBounds(deployment).maxUnavailable;
  const freshUnavailable = (fresh.spec.replicas ?? 0) - (fresh.status?.availableReplicas ?? 0);
  const spare = specReplicas([...old, fresh]) - least - freshUnavailable;
  if (spare <= 0) return [];
  const sizes = new Map(oldestFirst(old).map((replicaSet) => [replicaSet, replicaSet.spec.replicas ?? 0]));
  // Unavailable pods are removed first, so that they cannot block the rollout.
  let unhealthy = spare;
  for (const [replicaSet, size] of sizes) {
    const cut = Math.min(unhealthy, Math.max(0, size - (replicaSet.status?.availableReplicas ?? 0)));
    sizes.set(replicaSet, size - cut);
    unhealthy -= cut;
  }
  let available = statusCount([...old, fresh], 'availableReplicas') - least;
  for (const [replicaSet, size] of sizes) {
    if (available <= 0) break;
    const cut = Math.min(size, available);
    sizes.set(replicaSet, size - cut);
    available -= cut;
  }
  return [...sizes]
    .map(([replicaSet, replicas]) => ({ replicaSet, replicas }))
    .filter(({ replicaSet, replicas }) => replicas !== (replicaSet.spec.replicas ?? 0));
}

/** Distributes a change of the replica count during a rollout, or while paused, in proportion to the ReplicaSets' sizes. */
export function proportionalScaling(
  deployment: Deployment,
  fresh: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Scaling[] {
  const desired = desiredReplicas(deployment);
  const all = fresh === undefined ? [...old] : [...old, fresh];
  const active = all.filter(({ spec }) => (spec.replicas ?? 0) > 0);
  if (active.length <= 1) {
    const only = active[0] ?? fresh ?? oldestFirst(old).at(-1);
    return only === undefined || only.spec.replicas === desired ? [] : [{ replicaSet: only, replicas: desired }];
  }
  if (isSaturated(deployment, fresh)) {
    return active.filter((replicaSet) => replicaSet !== fresh).map((replicaSet) => ({ replicaSet, replicas: 0 }));
  }
  if (isRecreate(deployment)) return [];
  const allowed = desired === 0 ? 0 : desired + rollingBounds(deployment).maxSurge;
  const toAdd = allowed - specReplicas(active);
  const bySize = oldestFirst(active).sort((a, b) => (b.spec.replicas ?? 0) - (a.spec.replicas ?? 0));
  let added = 0;
  const scalings = bySize.map((replicaSet) => {
    const share = toAdd === 0 ? 0 : proportion(deployment, replicaSet, toAdd, added);
    added += share;
    return { replicaSet, replicas: (replicaSet.spec.replicas ?? 0) + share };
  });
  const [largest, ...rest] = scalings;
  if (largest === undefined) return [];
  return [{ ...largest, replicas: Math.max(0, largest.replicas + toAdd - added) }, ...rest];
}

/** Whether the Deployment was scaled since its ReplicaSets were last written. */
export function wasScaled(deployment: Deployment, all: readonly ReplicaSet[]): boolean {
  return all.some(({ metadata, spec }) => {
    const noted = metadata.annotations?.[DESIRED_REPLICAS];
    return (spec.replicas ?? 0) > 0 && noted !== undefined && Number(noted) !== desiredReplicas(deployment);
  });
}

function isSaturated(deployment: Deployment, fresh: ReplicaSet | undefined): boolean {
  const desired = desiredReplicas(deployment);
  if (fresh === undefined) return false;
  return (
    fresh.spec.replicas === desired &&
    Number(fresh.metadata.annotations?.[DESIRED_REPLICAS]) === desired &&
    (fresh.status?.availableReplicas ?? 0) === desired
  );
}

/** The share of one ReplicaSet in the replicas to add or remove, at most what is left of them. */
function proportion(deployment: Deployment, replicaSet: ReplicaSet, toAdd: number, added: number): number {
  const size = replicaSet.spec.replicas ?? 0;
  const before = Number(replicaSet.metadata.annotations?.[MAX_REPLICAS]) || (deployment.status?.replicas ?? size);
  const after = desiredReplicas(deployment) + rollingBounds(deployment).maxSurge;
  const share = desiredReplicas(deployment) === 0 ? -size : Math.round((size * after) / before) - size;
  const left = toAdd - added;
  return toAdd > 0 ? Math.min(Math.max(share, 0), left) : Math.max(Math.min(share, 0), left);
}
