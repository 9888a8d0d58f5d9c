import { AGENT_CLOUDS } from '../agent/cloud-of-machine.ts';
import { choiceOption, durationOption, switchOption, textOption } from '../platform/options.ts';
import { command } from './command.ts';
import { LOG_OPTIONS } from './log-options.ts';

const { logLevel } = LOG_OPTIONS;

/** `spindrift agent`: the agent that runs on each node. */
export const AGENT = command({
  name: 'agent',
  summary: 'Runs on a node: watches its machine for interruption notices and writes them on the Node.',
  usage: '[--once] [options]',
  options: {
    nodeName: textOption({
      flag: 'node-name',
      env: 'NODE_NAME',
      placeholder: 'NAME',
      help: 'The node that the agent runs on.',
    }),
    cloud: choiceOption({
      flag: 'cloud',
      env: 'SPINDRIFT_AGENT_CLOUD',
      choices: ['auto', ...AGENT_CLOUDS],
      fallback: 'auto',
      help: "The cloud of the machine; auto detects it from the node's provider ID, then from the firmware. With none, the agent sees only system shutdowns.",
    }),
    once: switchOption({
      flag: 'once',
      help: 'Listens for a few seconds, prints what each source reports, and exits; needs no cluster.',
    }),
    taint: switchOption({
      flag: 'taint',
      env: 'SPINDRIFT_AGENT_TAINT',
      help: 'Also adds the taint spindrift.dev/interruption:NoSchedule to the node.',
    }),
    noDrain: switchOption({
      flag: 'no-drain',
      env: 'SPINDRIFT_AGENT_NO_DRAIN',
      help: 'Never drains the node itself, even when no controller answers.',
    }),
    drainAfterMs: durationOption({
      flag: 'drain-after',
      env: 'SPINDRIFT_AGENT_DRAIN_AFTER',
      fallback: '5s',
      help: 'The agent drains the node itself when no controller has answered a notice for this long.',
    }),
    shutdownNoticeMs: durationOption({
      flag: 'shutdown-notice',
      env: 'SPINDRIFT_AGENT_SHUTDOWN_NOTICE',
      fallback: '30s',
      help: 'Time left for the drain when systemd or the kubelet reports a shutdown.',
    }),
    gcpNoticeMs: durationOption({
      flag: 'gcp-notice',
      env: 'SPINDRIFT_AGENT_GCP_NOTICE',
      fallback: '30s',
      help: 'Time left for the drain when Compute Engine preempts the VM; use 150s for VMs launched with a preemption notice of 120 s.',
    }),
    metadataUrl: textOption({
      flag: 'metadata-url',
      env: 'INSTANCE_METADATA_URL',
      placeholder: 'URL',
      help: 'URL of the metadata service, for tests; http://169.254.169.254 when not given.',
    }),
    busSocket: textOption({
      flag: 'bus-socket',
      env: 'SPINDRIFT_AGENT_BUS_SOCKET',
      placeholder: 'FILE',
      fallback: '/run/dbus/system_bus_socket',
      help: "The socket of the host's system bus. Without it the agent does not listen to systemd.",
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
      help: 'The address of the API server; Kubernetes sets it in every pod.',
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
      help: 'The folder with token and certificate of the service account, when it is not the one that Kubernetes mounts.',
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
