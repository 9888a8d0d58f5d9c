import { CLUSTER_API_NODE_CLASSES } from '../../../src/apis/cluster-api/cluster-api-node-class.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { DEFAULT_NODE_POOL } from '../../../src/app/default-pool.ts';
import { installDefinitions } from '../../../src/app/install-definitions.ts';
import { loadClusterApi } from '../../../src/cloud/cluster-api/module.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { MEMBER } from './workload-cluster.ts';

/** Installs our kinds, and creates a pool of spot machines from all member MachineDeployments. */
export async function makeSpotPool(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  await installDefinitions(client, [await loadClusterApi({ unclaimedGraceMs: 60_000 })], signal);
  await client.create(CLUSTER_API_NODE_CLASSES, {
    apiVersion: 'karpenter.cluster.x-k8s.io/v1alpha1',
    kind: 'ClusterAPINodeClass',
    metadata: { name },
    spec: { scalableResourceSelector: { matchExpressions: [{ key: MEMBER, operator: 'Exists' }] } },
  });
  const { spec } = DEFAULT_NODE_POOL;
  const nodeClassRef = { group: CLUSTER_API_NODE_CLASSES.group, kind: CLUSTER_API_NODE_CLASSES.kind, name };
  const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['spot'] }];
  await client.create(NODE_POOLS, {
    ...DEFAULT_NODE_POOL,
    metadata: { name },
    spec: {
      ...spec,
      disruption: { ...spec.disruption, consolidateAfter: 'Never' },
      template: { ...spec.template, spec: { ...spec.template.spec, nodeClassRef, requirements } },
    },
  });
}
