import { LIVE_OPTIONS } from '../app/live-options.ts';
import { listOption, numberOption, textOption } from '../platform/options.ts';
import { command } from './command.ts';
import { CONTROLLER_OPTIONS } from './controller-options.ts';
import { LOG_OPTIONS } from './log-options.ts';
import { METRICS_OPTIONS } from './metrics-options.ts';

const LIVE_NAMES = Object.values(LIVE_OPTIONS)
  .map(({ flag }) => flag)
  .join(', ');

/** `spindrift run`: the controllers, on any cluster. */
export const RUN = command({
  name: 'run',
  summary: 'Runs the autoscaler on the cluster of a kubeconfig, or on the cluster of its pod.',
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
      help: 'The context of the kubeconfig to use; its current context when not given.',
    }),
    host: textOption({
      flag: 'host',
      env: 'SPINDRIFT_HOST',
      placeholder: 'ADDRESS',
      fallback: '127.0.0.1',
      help: 'The address of probes and metrics; use 0.0.0.0 in a pod.',
    }),
    ...METRICS_OPTIONS,
    healthProbePort: numberOption({
      flag: 'health-probe-port',
      env: 'HEALTH_PROBE_PORT',
      fallback: 8081,
      min: 0,
      max: 65535,
      help: 'The port of /healthz and /readyz.',
    }),
    ...CONTROLLER_OPTIONS,
    interruptionConditions: listOption({
      flag: 'interruption-conditions',
      env: 'INTERRUPTION_CONDITIONS',
      placeholder: 'TYPE[=KIND]',
      help: 'Node conditions to treat as interruption notices, such as those of node-problem-detector.',
    }),
    movePrice: numberOption({
      flag: 'move-price',
      env: 'MOVE_PRICE',
      placeholder: 'SHARE',
      fallback: 0.1,
      min: 0,
      max: 10,
      fractions: true,
      help: 'The least that consolidation must save per evicted pod, as a share of the average price of a pod. Higher values move fewer pods; with 0 only prices count.',
    }),
    settings: textOption({
      flag: 'settings',
      env: 'SPINDRIFT_SETTINGS',
      placeholder: 'FILE',
      help: `A YAML file whose settings override flags and apply without a restart: ${LIVE_NAMES}.`,
    }),
    batchIdleMs: LIVE_OPTIONS.batchIdleMs,
    batchMaxMs: LIVE_OPTIONS.batchMaxMs,
    kubeClientQps: numberOption({
      flag: 'kube-client-qps',
      env: 'KUBE_CLIENT_QPS',
      fallback: 500,
      min: 1,
      max: 100_000,
      help: 'Requests per second to the API server.',
    }),
    kubeClientBurst: numberOption({
      flag: 'kube-client-burst',
      env: 'KUBE_CLIENT_BURST',
      fallback: 1000,
      min: 1,
      max: 100_000,
      help: 'The burst of requests to the API server.',
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
