import { CLOUD_MODULES, DEFAULT_CLOUD } from '../app/cloud-modules.ts';
import { switchOption, textOption } from '../platform/options.ts';
import { type GpuNamesSetting, parseGpuNamesSetting } from '../state/gpu-names-source.ts';

/** What the controller serves and as whom: `run` acts by it, `doctor` checks it. */
export const CONTROLLER_OPTIONS = {
  clusterName: textOption({
    flag: 'cluster-name',
    env: 'CLUSTER_NAME',
    placeholder: 'NAME',
    fallback: 'spindrift',
    help: 'The name that machines carry, so that two clusters in one account leave each other alone.',
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
    help: 'Acts at once, for a single replica.',
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
    help: 'Where that Lease is; the namespace of the context or the pod when not given.',
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
    help: 'What other clouds call a GPU that a model asks for by name: what is known, what a ConfigMap adds to it, or off.',
  },
  podDeletionCost: switchOption({
    flag: 'pod-deletion-cost',
    env: 'POD_DELETION_COST',
    help: 'Writes controller.kubernetes.io/pod-deletion-cost on pods of ReplicaSets, so that scaling down removes pods first whose nodes go or should go.',
  }),
  readyReplicas: switchOption({
    flag: 'ready-replicas',
    env: 'READY_REPLICAS',
    help: 'Keeps replicas of services ready that ask for it by the annotation spindrift.dev/ready-replicas, by setting their number; also holds room for whole groups of LeaderWorkerSets.',
  }),
  // Each cloud reads its own from the values, by the names of its table.
  ...(Object.assign({}, ...CLOUD_MODULES.map(({ options }) => options)) as Record<never, never>),
};
