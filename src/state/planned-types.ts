import { LABEL_NODE_POOL } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { InstanceType, Resources } from '../engine/problem.ts';
import { ANNOTATION_OFFERINGS, firstOffering, readOfferings } from './planned-offerings.ts';
import type { UsablePool } from './usable-pool.ts';

/** The instance type a claim is planned as; undefined when its pool is gone or does not sell it any more. */
export type PlannedTypes = (claim: NodeClaim) => InstanceType | undefined;

export function plannedTypes(pools: readonly UsablePool[]): PlannedTypes {
  const byPool = typesByPool(pools);
  return ({ metadata }) => {
    const first = firstOffering(metadata.annotations?.[ANNOTATION_OFFERINGS]);
    return first && byPool.get(metadata.labels?.[LABEL_NODE_POOL] ?? '')?.get(first.instanceType);
  };
}

/** The most of each resource that a claim may be launched with, whichever of its offerings that will be. */
export type PlannedCapacity = (claim: NodeClaim) => Resources;

export function plannedCapacity(pools: readonly UsablePool[]): PlannedCapacity {
  const byPool = typesByPool(pools);
  /** By pool and list of offerings: claims that are alike share theirs. */
  const known = new Map<string, Resources>();
  return ({ metadata }) => {
    const pool = metadata.labels?.[LABEL_NODE_POOL] ?? '';
    const written = metadata.annotations?.[ANNOTATION_OFFERINGS] ?? '';
    const key = `${pool} ${written}`;
    let most = known.get(key);
    if (most === undefined) {
      const types = new Set(readOfferings(written).map(({ instanceType }) => instanceType));
      most = largest([...types].map((type) => byPool.get(pool)?.get(type)?.capacity ?? {}));
      known.set(key, most);
    }
    return most;
  };
}

function largest(capacities: readonly Resources[]): Resources {
  const most: Record<string, number> = {};
  for (const capacity of capacities)
    for (const [name, amount] of Object.entries(capacity)) most[name] = Math.max(most[name] ?? 0, amount);
  return most;
}

function typesByPool(pools: readonly UsablePool[]): ReadonlyMap<string, ReadonlyMap<string, InstanceType>> {
  return new Map(
    pools.map(({ pool, instanceTypes }) => [
      pool.metadata.name ?? '',
      new Map(instanceTypes.map((type) => [type.name, type])),
    ]),
  );
}
