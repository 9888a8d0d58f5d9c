/** The status of a ClusterAPINodeClass. Pure. */
import {
  CLUSTER_API_NODE_CLASS_CONDITIONS,
  type ClusterApiNodeClass,
  type ClusterApiNodeClassStatus,
} from '../../apis/cluster-api/cluster-api-node-class.ts';
import { type ConditionChange, withCondition } from '../../apis/karpenter/conditions.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { DescribedDeployment } from './describe-deployment.ts';

/** A status lists at most this many MachineDeployments. */
const MOST_SHOWN = 200;

/** The status of a node class, from the MachineDeployments it selects or from why they could not be read. */
export function nodeClassStatus(
  nodeClass: ClusterApiNodeClass,
  found: readonly DescribedDeployment[] | { readonly problem: string },
  now: EpochMs,
): ClusterApiNodeClassStatus {
  let conditions = nodeClass.status?.conditions ?? [];
  for (const change of changesOf(found)) {
    const { metadata } = nodeClass;
    conditions = withCondition(CLUSTER_API_NODE_CLASS_CONDITIONS, { metadata, status: { conditions } }, change, now);
  }
  if ('problem' in found) return { ...nodeClass.status, conditions };
  return {
    machineDeployments: found.slice(0, MOST_SHOWN).map((one) => ({
      name: one.key,
      instanceType: one.instanceType,
      zone: one.zone,
      capacityType: one.capacityType,
      price: one.price,
      replicas: one.replicas,
      ...((one.problem ?? one.warnings[0]) !== undefined && {
        problem: one.problem ?? `(still used) ${one.warnings[0]}`,
      }),
    })),
    selected: found.length,
    usable: found.filter(({ problem }) => problem === undefined).length,
    conditions,
  };
}

function changesOf(found: readonly DescribedDeployment[] | { readonly problem: string }): readonly ConditionChange[] {
  const reachable = 'ManagementClusterReachable';
  const ready = 'MachineDeploymentsReady';
  if ('problem' in found)
    return [{ type: reachable, status: 'False', reason: 'RequestFailed', message: found.problem }];
  const usable = found.filter(({ problem }) => problem === undefined);
  const [first] = found;
  const change: ConditionChange =
    usable.length > 0
      ? { type: ready, status: 'True' }
      : first === undefined
        ? {
            type: ready,
            status: 'False',
            reason: 'NothingSelected',
            message:
              'spec.scalableResourceSelector selects no MachineDeployment of this cluster: label some, or change the selector',
          }
        : {
            type: ready,
            status: 'False',
            reason: 'NothingUsable',
            message: `MachineDeployment ${first.key}: ${first.problem}`,
          };
  return [{ type: reachable, status: 'True' }, change];
}
