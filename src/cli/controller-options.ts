import { CLOUD_MODULES, DEFAULT_CLOUD } from '../app/cloud-modules.ts';
import { switchOption, textOption } from '../platform/options.ts';
import { type GpuNamesSetting, parseGpuNamesSetting } from '../state/gpu-names-source.ts';

/** Options of the controller that `doctor` checks too: clouds, leader election, definitions. */
export const CONTROLLER_OPTIONS = {
  clusterName: textOption({
    flag: 'cluster-name',
    env: 'CLUSTER_NAME',
    placeholder: 'NAME',
    fallback: 'spindrift',
    help: 'Tags machines with this name, so that clusters that share an account only see their own.',
  }),
  cloud: textOption({
    flag: 'cloud',
    env: 'SPINDRIFT_CLOUD',
    placeholder: 'NAMES',
    fallback: DEFAULT_CLOUD,
    help: `The clouds to serve, separated by commas: ${CLOUD_MODULES.map(({ name }) => name).join(', ')}.`,
  }),
  disableLeaderElection: switchOption({
    flag: 'disable-leader-election',
    env: 'DISABLE_LEADER_ELECTION',
    help: 'Acts without waiting for the Lease; only for a single replica.',
  }),
  leaderElectionName: textOption({
    flag: 'leader-election-name',
    env: 'LEADER_ELECTION_NAME',
    placeholder: 'NAME',
    fallback: 'karpenter-leader-election',
    help: 'The Lease that the leader holds.',
  }),
  leaderElectionNamespace: textOption({
    flag: 'leader-election-namespace',
    env: 'LEADER_ELECTION_NAMESPACE',
    placeholder: 'NAME',
    help: 'The namespace of that Lease; the one of the context or the pod when not given.',
  }),
  installDefinitions: switchOption({
    flag: 'install-definitions',
    env: 'INSTALL_DEFINITIONS',
    help: 'Applies the custom resource definitions first, for clusters where no chart does.',
  }),
  gpuNames: {
    flag: 'gpu-names',
    env: 'GPU_NAMES',
    placeholder: 'WHERE',
    fallback: 'known' as GpuNamesSetting,
    fallbackText: 'known',
    allowed: 'known, off, or NAMESPACE/NAME of a ConfigMap',
    parse: parseGpuNamesSetting,
    help: 'Maps GPU names of models to the names each cloud uses: known uses the built-in list, a ConfigMap adds names to it, off maps nothing.',
  },
  podDeletionCost: switchOption({
    flag: 'pod-deletion-cost',
    env: 'POD_DELETION_COST',
    help: 'Writes controller.kubernetes.io/pod-deletion-cost on pods of ReplicaSets, so that scaling down first removes pods of nodes that are being or should be disrupted.',
  }),
  readyReplicas: switchOption({
    flag: 'ready-replicas',
    env: 'READY_REPLICAS',
    help: 'Scales workloads that have the annotation spindrift.dev/ready-replicas so that this many replicas stay ready through interruptions; also holds room for whole groups of LeaderWorkerSets.',
  }),
  // Each cloud picks its own values by the names in its table.
  ...(Object.assign({}, ...CLOUD_MODULES.map(({ options }) => options)) as Record<never, never>),
};
