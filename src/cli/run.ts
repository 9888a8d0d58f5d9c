import { LIVE_OPTIONS } from '../app/live-options.ts';
import { listOption, numberOption, switchOption, textOption } from '../platform/options.ts';
import { command } from './command.ts';
import { CONTROLLER_OPTIONS } from './controller-options.ts';
import { LOG_OPTIONS } from './log-options.ts';
import { METRICS_OPTIONS } from './metrics-options.ts';

const LIVE_NAMES = Object.values(LIVE_OPTIONS)
  .map(({ flag }) => flag)
  .join(', ');

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
    ...CONTROLLER_OPTIONS,
    interruptionConditions: listOption({
      flag: 'interruption-conditions',
      env: 'INTERRUPTION_CONDITIONS',
      placeholder: 'TYPE[=KIND]',
      help: 'Conditions of Nodes that mean that the machine is taken away, such as those of node-problem-detector.',
    }),
    movePrice: numberOption({
      flag: 'move-price',
      env: 'MOVE_PRICE',
      placeholder: 'SHARE',
      fallback: 0.1,
      min: 0,
      max: 10,
      fractions: true,
      help: 'What consolidation must save to move a pod, as a share of what a pod costs on average. More moves fewer pods; with 0 only prices count.',
    }),
    readyReplicas: switchOption({
      flag: 'ready-replicas',
      env: 'READY_REPLICAS',
      help: 'Keeps replicas of services ready that ask for it by the annotation spindrift.dev/ready-replicas, by setting their number; also holds room for whole groups of LeaderWorkerSets.',
    }),
    podDeletionCost: switchOption({
      flag: 'pod-deletion-cost',
      env: 'POD_DELETION_COST',
      help: 'Writes controller.kubernetes.io/pod-deletion-cost on pods of ReplicaSets, so that scaling down removes pods first whose nodes go or should go.',
    }),
    settings: textOption({
      flag: 'settings',
      env: 'SPINDRIFT_SETTINGS',
      placeholder: 'FILE',
      help: `A YAML file that is read again when it changes, without a restart; what it says wins: ${LIVE_NAMES}.`,
    }),
    batchIdleMs: LIVE_OPTIONS.batchIdleMs,
    batchMaxMs: LIVE_OPTIONS.batchMaxMs,
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
  },
  run: async ({ values }, { signal }) => {
    const { run } = await import('../app/run.ts');
    const clouds = values.cloud.split(',').map((name) => name.trim());
    await run({ ...values, clouds, cloudOptions: values, signal });
    return 0;
  },
});
