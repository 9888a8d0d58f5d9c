import { LABEL_NODE_POOL } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { InstanceType } from '../engine/problem.ts';
import { ANNOTATION_OFFERINGS, firstOffering } from './planned-offerings.ts';
import type { UsablePool } from './usable-pool.ts';

/** The instance type a claim is planned as; undefined if its pool is gone or no longer sells it. */
export type PlannedTypes = (claim: NodeClaim) => InstanceType | undefined;

export function plannedTypes(pools: readonly UsablePool[]): PlannedTypes {
  const byPool = new Map(
    pools.map(({ pool, instanceTypes }) => [
      pool.metadata.name ?? '',
      new Map(instanceTypes.map((type) => [type.name, type])),
    ]),
  );
  return ({ metadata }) => {
    const first = firstOffering(metadata.annotations?.[ANNOTATION_OFFERINGS]);
    return first && byPool.get(metadata.labels?.[LABEL_NODE_POOL] ?? '')?.get(first.instanceType);
  };
}
