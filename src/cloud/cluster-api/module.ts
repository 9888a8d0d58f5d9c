/** Cluster API as a cloud that can be enabled. */
import { SpindriftError } from '../../platform/errors.ts';
import { durationOption, listOption, type OptionTable, textOption } from '../../platform/options.ts';
import type { CloudModule, CloudWorld, LoadedCloud } from '../cloud-module.ts';
import type { Provider } from './infrastructure/machine-settings.ts';
import type { InstanceCloud } from './provider/instance-cloud.ts';

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
  clusterApiMachines: listOption({
    flag: 'cluster-api-machines',
    env: 'CLUSTER_API_MACHINES',
    placeholder: 'CLOUD',
    help: 'Clouds whose AWSMachines, GCPMachines or AzureMachines Spindrift reconciles itself, as there is no CAPA, CAPG or CAPZ: aws, gcp, azure.',
  }),
  clusterApiInterruptionQueue: textOption({
    flag: 'cluster-api-interruption-queue',
    env: 'CLUSTER_API_INTERRUPTION_QUEUE',
    placeholder: 'NAME',
    help: 'The SQS queue that AWS tells of interruptions of machines of Cluster API: its name, URL or ARN. No agent is needed with it.',
  }),
} satisfies OptionTable;

/** The options, read. */
export interface ClusterApiSettings {
  readonly kubeconfig?: string;
  readonly namespace?: string;
  readonly cluster?: string;
  readonly unclaimedGraceMs: number;
  /** Clouds whose infrastructure machines Spindrift reconciles itself. */
  readonly machines?: readonly Provider[];
  /** Opens them; by default with credentials as the SDKs find them. */
  readonly instanceClouds?: (world: CloudWorld) => Promise<readonly InstanceCloud[]>;
  /** Name, URL or ARN of an SQS queue with interruptions. */
  readonly interruptionQueue?: string;
}

export const CLUSTER_API: CloudModule = {
  name: 'cluster-api',
  kind: { group: 'karpenter.cluster.x-k8s.io', kind: 'ClusterAPINodeClass' },
  options: OPTIONS,
  load: async (values) => {
    const text = (name: string): string | undefined => (values[name] === undefined ? undefined : String(values[name]));
    const [kubeconfig, namespace, cluster, interruptionQueue] = [
      'clusterApiKubeconfig',
      'clusterApiNamespace',
      'clusterApiCluster',
      'clusterApiInterruptionQueue',
    ].map(text);
    const machines = providersOf((values.clusterApiMachines ?? []) as readonly string[]);
    const endpoints = { gcp: String(values.gcpComputeEndpoint), azure: String(values.azureEndpoint) };
    return loadClusterApi({
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(namespace !== undefined && { namespace }),
      ...(cluster !== undefined && { cluster }),
      ...(interruptionQueue !== undefined && { interruptionQueue }),
      unclaimedGraceMs: Number(values.clusterApiUnclaimedGrace),
      machines,
      instanceClouds: async (world) =>
        (await import('./provider/instance-clouds.ts')).openInstanceClouds(machines, world, endpoints),
    });
  },
};

function providersOf(names: readonly string[]): readonly Provider[] {
  return [...new Set(names)].map((name) => {
    if (name === 'aws' || name === 'gcp' || name === 'azure') return name;
    const allowed = 'one or several of aws, gcp, azure, separated by commas';
    throw new SpindriftError('OPTION_INVALID', { option: '--cluster-api-machines', value: name, allowed });
  });
}

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
