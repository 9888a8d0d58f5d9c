import { CLOUD_MODULES, DEFAULT_CLOUD } from '../app/cloud-modules.ts';
import { durationOption, listOption, numberOption, switchOption, textOption } from '../platform/options.ts';
import { type GpuNamesSetting, parseGpuNamesSetting } from '../state/gpu-names-source.ts';
import { command } from './command.ts';
import { LOG_OPTIONS } from './log-options.ts';
import { METRICS_OPTIONS } from './metrics-options.ts';

/** `spindrift run`: the controllers, against any cluster. */
export const RUN = command({
  name: 'run',
  summary: 'Runs the autoscaler against the cluster of a kubeconfig, or the one it is in.',
  usage: '[options]',
  options: {
    kubeconfig: textOption({
      flag: 'kubeconfig',
      placeholder: 'FILE',
      help: 'The cluster to talk to; $KUBECONFIG, ~/.kube/config or the service account of the pod when not given.',
    }),
    context: textOption({
      flag: 'context',
      placeholder: 'NAME',
      help: 'A context of the kubeconfig other than its own.',
    }),
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
    host: textOption({
      flag: 'host',
      env: 'SPINDRIFT_HOST',
      placeholder: 'ADDRESS',
      fallback: '127.0.0.1',
      help: 'The address that probes and metrics are served on; 0.0.0.0 in a pod.',
    }),
    ...METRICS_OPTIONS,
    healthProbePort: numberOption({
      flag: 'health-probe-port',
      env: 'HEALTH_PROBE_PORT',
      fallback: 8081,
      min: 0,
      max: 65535,
      help: 'Where /healthz and /readyz are served.',
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
    interruptionConditions: listOption({
      flag: 'interruption-conditions',
      env: 'INTERRUPTION_CONDITIONS',
      placeholder: 'TYPE[=KIND]',
      help: 'Conditions of Nodes that mean that the machine is taken away, such as those of node-problem-detector.',
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
    batchIdleMs: durationOption({
      flag: 'batch-idle-duration',
      env: 'BATCH_IDLE_DURATION',
      fallback: '1s',
      help: 'How long no pod must come before a batch of pending pods is looked at.',
    }),
    batchMaxMs: durationOption({
      flag: 'batch-max-duration',
      env: 'BATCH_MAX_DURATION',
      fallback: '10s',
      help: 'The longest time a batch is waited for.',
    }),
    kubeClientQps: numberOption({
      flag: 'kube-client-qps',
      env: 'KUBE_CLIENT_QPS',
      fallback: 500,
      min: 1,
      max: 100_000,
      help: 'Requests a second to the API server.',
    }),
    kubeClientBurst: numberOption({
      flag: 'kube-client-burst',
      env: 'KUBE_CLIENT_BURST',
      fallback: 1000,
      min: 1,
      max: 100_000,
      help: 'Requests at once to the API server.',
    }),
    ...LOG_OPTIONS,
    // Each cloud reads its own from the values, by the names of its table.
    ...(Object.assign({}, ...CLOUD_MODULES.map(({ options }) => options)) as Record<never, never>),
  },
  run: async ({ values }, { signal }) => {
    const { run } = await import('../app/run.ts');
    const clouds = values.cloud.split(',').map((name) => name.trim());
    await run({ ...values, clouds, cloudOptions: values, signal });
    return 0;
  },
});
