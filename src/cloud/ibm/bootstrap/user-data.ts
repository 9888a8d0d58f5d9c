/** The user data of a machine: our cloud-config, with the user's script appended or in its place. */
import { stringify } from 'yaml';
import { SpindriftError } from '../../../platform/errors.ts';
import { JOIN_DIRECTORY, joinScript } from './join-script.ts';
import type { JoinSettings } from './join-settings.ts';
import { kubeletConfiguration } from './kubelet-configuration.ts';

export interface UserDataOptions {
  readonly settings: JoinSettings;
  readonly userData?: string | undefined;
  readonly userDataAppend?: string | undefined;
}

/** IBM Cloud's limit. */
const MOST_BYTES = 64 * 1024;

/** The user data for cloud-init, as plain text. */
export function userDataOf({ settings, userData, userDataAppend }: UserDataOptions): string {
  const text =
    userData === undefined || userData === '' ? ownUserData(settings, userDataAppend) : replaced(settings, userData);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MOST_BYTES) return text;
  const problem = `the user data has ${bytes} bytes, but IBM Cloud takes ${MOST_BYTES}: make userData or userDataAppend shorter`;
  throw new SpindriftError('CLOUD_REFUSED', { operation: 'CreateInstance', problem });
}

function ownUserData(settings: JoinSettings, append: string | undefined): string {
  const files = [
    file('/etc/kubernetes/pki/ca.crt', settings.certificateAuthority, '0644'),
    file('/etc/kubernetes/bootstrap-kubelet.conf', bootstrapKubeconfig(settings), '0600'),
    file(
      '/etc/kubernetes/kubelet-config.json',
      `${JSON.stringify(kubeletConfiguration(settings), undefined, 2)}\n`,
      '0644',
    ),
    file('/etc/modules-load.d/kubernetes.conf', 'overlay\nbr_netfilter\n', '0644'),
    file('/etc/sysctl.d/90-kubernetes.conf', SYSCTL, '0644'),
    file('/etc/systemd/system/kubelet.service.d/20-spindrift.conf', UNIT, '0644'),
    file(`${JOIN_DIRECTORY}/join.sh`, joinScript(settings), '0755'),
    ...(append === undefined || append === ''
      ? []
      : [file(`${JOIN_DIRECTORY}/append.sh`, withInterpreter(append), '0755')]),
  ];
  const config = {
    growpart: { mode: 'auto', devices: ['/'] },
    preserve_hostname: true,
    write_files: files,
    runcmd: [[`${JOIN_DIRECTORY}/join.sh`], ...(files.length > 7 ? [[`${JOIN_DIRECTORY}/append.sh`]] : [])],
  };
  return `#cloud-config\n${stringify(config, { lineWidth: 0 })}`;
}

/** The user's own script, with the join settings in its environment. Anything but a script is passed on unchanged. */
function replaced(settings: JoinSettings, userData: string): string {
  const [interpreter = ''] = userData.split('\n', 1);
  if (!/^#!.*\b(?:ba|da|z|k)?sh\b/.test(interpreter)) return userData;
  const variables = {
    BOOTSTRAP_CLUSTER_ENDPOINT: settings.endpoint,
    BOOTSTRAP_CA_BUNDLE: Buffer.from(settings.certificateAuthority).toString('base64'),
    BOOTSTRAP_TOKEN: settings.token,
    BOOTSTRAP_NODE_NAME: settings.nodeName,
    BOOTSTRAP_REGION: settings.region,
    BOOTSTRAP_CLUSTER_DNS: settings.dns.join(','),
    BOOTSTRAP_KUBERNETES_MINOR: settings.kubernetesMinor,
    BOOTSTRAP_NODE_LABELS: Object.entries(settings.labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
    BOOTSTRAP_NODE_TAINTS: settings.taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`).join(','),
    BOOTSTRAP_KUBELET_CONFIG: Buffer.from(JSON.stringify(kubeletConfiguration(settings))).toString('base64'),
  };
  const exports = Object.entries(variables).map(
    ([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'`,
  );
  return [interpreter, ...exports, userData.slice(interpreter.length + 1)].join('\n');
}

function file(path: string, content: string, permissions: string) {
  return { path, permissions, owner: 'root:root', content };
}

function withInterpreter(script: string): string {
  return script.startsWith('#!') ? script : `#!/bin/bash\n${script}`;
}

function bootstrapKubeconfig({ endpoint, token }: JoinSettings): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'cluster', cluster: { server: endpoint, 'certificate-authority': '/etc/kubernetes/pki/ca.crt' } },
    ],
    users: [{ name: 'kubelet-bootstrap', user: { token } }],
    contexts: [{ name: 'bootstrap', context: { cluster: 'cluster', user: 'kubelet-bootstrap' } }],
    'current-context': 'bootstrap',
  });
}

const SYSCTL =
  'net.ipv4.ip_forward = 1\nnet.bridge.bridge-nf-call-iptables = 1\nnet.bridge.bridge-nf-call-ip6tables = 1\n';

const UNIT = `[Unit]
After=containerd.service
Wants=containerd.service
[Service]
EnvironmentFile=-/etc/default/spindrift-kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $SPINDRIFT_KUBELET_ARGS
Restart=always
RestartSec=5
`;
