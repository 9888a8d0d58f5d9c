/** Finds what an infrastructure machine belongs to: its Machine, its Cluster, and the infrastructure of that. */
import type { ClusterApiCluster } from '../../../apis/cluster-api/core-kinds.ts';
import { CLUSTER_API_GROUP, LABEL_CLUSTER_NAME } from '../../../apis/cluster-api/names.ts';
import { referred } from '../../../apis/cluster-api/reference.ts';
import { keyOf, keyText } from '../../../apis/kubernetes/object.ts';
import type { Informer } from '../../../kube/informer.ts';
import type { InfrastructureObject, InfrastructureObjects } from '../infrastructure-objects.ts';
import type { ManagementCluster } from '../management-cluster.ts';
import type { MachineScene } from './decide-machine-step.ts';
import type { InstancePlace } from './instance-cloud.ts';

export interface MachineScenesOptions {
  readonly management: ManagementCluster;
  readonly clusters: Informer<ClusterApiCluster>;
  readonly infrastructure: InfrastructureObjects;
}

export class MachineScenes {
  readonly #options: MachineScenesOptions;

  constructor(options: MachineScenesOptions) {
    this.#options = options;
  }

  async of({ metadata }: InfrastructureObject, signal: AbortSignal): Promise<MachineScene> {
    const { management, clusters, infrastructure } = this.#options;
    const { namespace = '', ownerReferences = [], labels } = metadata;
    const reference = ownerReferences.find(
      ({ kind, apiVersion }) => kind === 'Machine' && apiVersion.startsWith(`${CLUSTER_API_GROUP}/`),
    );
    const owner = reference && management.machineCache.get({ namespace, name: reference.name });
    const clusterName = owner?.spec?.clusterName ?? labels?.[LABEL_CLUSTER_NAME];
    const cluster = clusterName === undefined ? undefined : clusters.get({ namespace, name: clusterName });
    const behind = referred(cluster?.spec?.infrastructureRef);
    const infrastructureCluster = behind && (await infrastructure.recent(behind, namespace, signal));
    return { owner, cluster, infrastructureCluster };
  }
}

/** Where the instance of a machine is; undefined while its Cluster, or the infrastructure of that, is not there. */
export function placeOf(
  machine: InfrastructureObject,
  { infrastructureCluster, cluster }: MachineScene,
): InstancePlace | undefined {
  if (infrastructureCluster === undefined || cluster === undefined) return undefined;
  const providerID = machine.spec?.providerID;
  return {
    uid: machine.metadata.uid ?? '',
    machine: keyText(keyOf(machine)),
    clusterName: cluster.metadata.name ?? '',
    cluster: infrastructureCluster,
    ...(typeof providerID === 'string' && providerID !== '' && { providerID }),
  };
}
