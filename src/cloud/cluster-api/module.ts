/** Cluster API as a cloud that can be enabled. */
import { durationOption, type OptionTable, textOption } from '../../platform/options.ts';
import type { CloudModule, LoadedCloud } from '../cloud-module.ts';

const OPTIONS = {
  clusterApiKubeconfig: textOption({
    flag: 'cluster-api-kubeconfig',
    env: 'CLUSTER_API_KUBECONFIG',
    placeholder: 'FILE',
    help: 'The kubeconfig of the management cluster; the cluster itself when it is not given.',
  }),
  clusterApiNamespace: textOption({
    flag: 'cluster-api-namespace',
    env: 'CLUSTER_API_NAMESPACE',
    placeholder: 'NAME',
    help: 'The namespace of the MachineDeployments and machines; all namespaces when it is not given.',
  }),
  clusterApiCluster: textOption({
    flag: 'cluster-api-cluster',
    env: 'CLUSTER_API_CLUSTER',
    placeholder: 'NAME',
    help: 'The Cluster object whose machines these are; name it where the management cluster runs several.',
  }),
  clusterApiUnclaimedGrace: durationOption({
    flag: 'cluster-api-unclaimed-grace',
    env: 'CLUSTER_API_UNCLAIMED_GRACE',
    fallback: '5m',
    help: 'How long a machine of a selected MachineDeployment may belong to no claim before it is scaled away.',
  }),
} satisfies OptionTable;

/** What the options say. */
export interface ClusterApiSettings {
  readonly kubeconfig?: string;
  readonly namespace?: string;
  readonly cluster?: string;
  readonly unclaimedGraceMs: number;
}

export const CLUSTER_API: CloudModule = {
  name: 'cluster-api',
  kind: { group: 'karpenter.cluster.x-k8s.io', kind: 'ClusterAPINodeClass' },
  options: OPTIONS,
  load: async (values) => {
    const text = (name: string): string | undefined => (values[name] === undefined ? undefined : String(values[name]));
    const [kubeconfig, namespace, cluster] = ['clusterApiKubeconfig', 'clusterApiNamespace', 'clusterApiCluster'].map(
      text,
    );
    return loadClusterApi({
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(namespace !== undefined && { namespace }),
      ...(cluster !== undefined && { cluster }),
      unclaimedGraceMs: Number(values.clusterApiUnclaimedGrace),
    });
  },
};

/** Cluster API with these settings. */
export async function loadClusterApi(settings: ClusterApiSettings): Promise<LoadedCloud> {
  const [{ NODE_CLASS_KIND }, { CLOUD_LABELS }, { openClusterApi }] = await Promise.all([
    import('./node-class-kind.ts'),
    import('./cluster-api-driver.ts'),
    import('./open.ts'),
  ]);
  return {
    name: 'cluster-api',
    nodeClass: NODE_CLASS_KIND as unknown as LoadedCloud['nodeClass'],
    labels: CLOUD_LABELS,
    open: (world) => openClusterApi(world, settings),
  };
}
