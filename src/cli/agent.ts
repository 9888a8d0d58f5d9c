import { AGENT_CLOUDS } from '../agent/cloud-of-machine.ts';
import { choiceOption, durationOption, switchOption, textOption } from '../platform/options.ts';
import { command } from './command.ts';
import { LOG_OPTIONS } from './log-options.ts';

const { logLevel } = LOG_OPTIONS;

/** `spindrift agent`: what runs on each node. */
export const AGENT = command({
  name: 'agent',
  summary: 'Runs on a node: hears from its machine that it is taken away, and tells the cluster.',
  usage: '[--once] [options]',
  options: {
    nodeName: textOption({
      flag: 'node-name',
      env: 'NODE_NAME',
      placeholder: 'NAME',
      help: 'The node it runs on.',
    }),
    cloud: choiceOption({
      flag: 'cloud',
      env: 'SPINDRIFT_AGENT_CLOUD',
      choices: ['auto', ...AGENT_CLOUDS],
      fallback: 'auto',
      help: "Whose machine it is; auto goes by the node's provider ID, then by the firmware. With none only the shutdown of the system is heard.",
    }),
    once: switchOption({
      flag: 'once',
      help: 'Listens for some seconds, prints what is heard and where, and ends; needs no cluster.',
    }),
    taint: switchOption({
      flag: 'taint',
      env: 'SPINDRIFT_AGENT_TAINT',
      help: 'Also adds the taint spindrift.dev/interruption:NoSchedule to the node.',
    }),
    noDrain: switchOption({
      flag: 'no-drain',
      env: 'SPINDRIFT_AGENT_NO_DRAIN',
      help: 'Never drains the node itself, whether a controller answers or not.',
    }),
    drainAfterMs: durationOption({
      flag: 'drain-after',
      env: 'SPINDRIFT_AGENT_DRAIN_AFTER',
      fallback: '5s',
      help: 'How long a controller may take to answer before the agent drains the node itself.',
    }),
    shutdownNoticeMs: durationOption({
      flag: 'shutdown-notice',
      env: 'SPINDRIFT_AGENT_SHUTDOWN_NOTICE',
      fallback: '30s',
      help: 'How long a machine has that systemd or the kubelet says is shutting down.',
    }),
    gcpNoticeMs: durationOption({
      flag: 'gcp-notice',
      env: 'SPINDRIFT_AGENT_GCP_NOTICE',
      fallback: '30s',
      help: 'How long a VM of Compute Engine has once it is preempted; 150s where it was launched with a preemption notice of 120 s.',
    }),
    metadataUrl: textOption({
      flag: 'metadata-url',
      env: 'INSTANCE_METADATA_URL',
      placeholder: 'URL',
      help: 'Where the metadata service is, for tests; http://169.254.169.254 when not given.',
    }),
    busSocket: textOption({
      flag: 'bus-socket',
      env: 'SPINDRIFT_AGENT_BUS_SOCKET',
      placeholder: 'FILE',
      fallback: '/run/dbus/system_bus_socket',
      help: "The socket of the host's system bus; systemd is not listened to where there is none.",
    }),
    kubeconfig: textOption({
      flag: 'kubeconfig',
      placeholder: 'FILE',
      help: 'The cluster to talk to; the service account of the pod when not given.',
    }),
    serviceHost: textOption({
      flag: 'service-host',
      env: 'KUBERNETES_SERVICE_HOST',
      placeholder: 'ADDRESS',
      help: 'Where the API server is; Kubernetes sets it in every pod.',
    }),
    servicePort: textOption({
      flag: 'service-port',
      env: 'KUBERNETES_SERVICE_PORT',
      placeholder: 'N',
      help: 'The port of the API server; Kubernetes sets it in every pod.',
    }),
    serviceAccount: textOption({
      flag: 'service-account',
      env: 'SPINDRIFT_AGENT_SERVICE_ACCOUNT',
      placeholder: 'FOLDER',
      help: 'Where token and certificate of the service account are, when not where Kubernetes puts them.',
    }),
    logLevel,
  },
  run: async ({ values }, { signal, out }) => {
    const load = () => import('../app/agent.ts');
    if (values.once) {
      const { listenOnce } = await load();
      await listenOnce({ ...values, signal }, out);
      return 0;
    }
    const { leanStart } = await import('../platform/lean-start.ts');
    await leanStart(load);
    const { runAgent } = await load();
    await runAgent({ ...values, signal });
    return 0;
  },
});
