/**
 * How the engine plans nodes of a static pool: each replica is a pod without requests that tolerates every taint, shares its node with
 * no other replica, and prefers the zone with the fewest. The engine then chooses type, zone and capacity type, and SpotPolicies apply,
 * as in any plan. These pods exist only in the problem.
 */
import { LABEL_HOSTNAME, LABEL_ZONE } from '../../apis/karpenter/labels.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { SPINDRIFT_GROUP } from '../../apis/spindrift/group.ts';

const LABEL_REPLICA_OF = `${SPINDRIFT_GROUP}/replica-of`;

/** A replica of the pool; with `nodeName`, one that exists. */
export function replicaPod(pool: NodePool, name: string, nodeName?: string): Pod {
  const { name: poolName = '', uid: poolUid = '', creationTimestamp } = pool.metadata;
  const labels = { [LABEL_REPLICA_OF]: poolName };
  const labelSelector = { matchLabels: labels };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: `nodepool-${poolName}`,
      name,
      uid: `${poolUid}/${name}`,
      labels,
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ownerReferences: [
        { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: poolName, uid: poolUid, controller: true },
      ],
    },
    spec: {
      containers: [],
      tolerations: [{ operator: 'Exists' }],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: LABEL_HOSTNAME, labelSelector }],
        },
      },
      topologySpreadConstraints: [
        { topologyKey: LABEL_ZONE, maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', labelSelector },
      ],
      ...(nodeName === undefined ? {} : { nodeName }),
    },
  };
}
