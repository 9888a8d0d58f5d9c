/** Boots one machine: from its image and user data to the Node that its kubelet would register, or why there is none. */
import type { Node } from '../../../src/apis/kubernetes/node.ts';
import type { Machine } from '../aws-ground-types.ts';
import { BootFailure, type BootSettings } from './boot-settings.ts';
import { readBootstrapScript, readPowerShell } from './bootstrap-script.ts';
import { readBottlerocketSettings } from './bottlerocket-settings.ts';
import { readNodeConfig } from './node-config.ts';
import { registeredNode } from './registered-node.ts';

/** What a machine must have been told, and be, to join this cluster. */
export interface Cluster {
  readonly name: string;
  readonly endpoint: string;
  /** Base64. */
  readonly certificateAuthority: string;
  readonly serviceCidr: string;
  /** Machines outside of it cannot reach the API server. */
  readonly securityGroup: string;
  readonly region: string;
  readonly kubeletVersion: string;
}

export interface BootOptions {
  readonly machine: Machine;
  readonly cluster: Cluster;
  /** TOML is parsed by a program that neither we nor the driver wrote. */
  parseToml(text: string): Promise<unknown>;
}

/** The Node as the kubelet registers it; rejects with a BootFailure. */
export async function boot({ machine, cluster, parseToml }: BootOptions): Promise<Node> {
  if (machine.userData === null) throw new BootFailure('the machine has no user data');
  const userData = Buffer.from(machine.userData, 'base64').toString('utf8');
  const settings = await read(machine.imageName, userData, parseToml);
  check(machine, settings, cluster);
  return registeredNode(machine, settings, cluster);
}

async function read(image: string, userData: string, parseToml: BootOptions['parseToml']): Promise<BootSettings> {
  if (image.startsWith('bottlerocket')) {
    const parsed = await parseToml(userData).catch((cause: unknown) => {
      throw new BootFailure(`the user data is no TOML: ${String(cause)}`);
    });
    return readBottlerocketSettings(parsed);
  }
  if (image.startsWith('Windows')) return readPowerShell(userData);
  return image.includes('al2023') ? readNodeConfig(userData) : readBootstrapScript(userData);
}

function check(machine: Machine, settings: BootSettings, cluster: Cluster): void {
  const told = [
    ['the cluster', settings.clusterName, cluster.name],
    ['the API server', settings.endpoint, cluster.endpoint],
    ['the certificate authority', settings.certificateAuthority, cluster.certificateAuthority],
    ['the service CIDR', settings.serviceCidr ?? cluster.serviceCidr, cluster.serviceCidr],
  ] as const;
  for (const [what, given, wanted] of told) {
    if (given !== wanted) throw new BootFailure(`the user data says that ${what} is ${given}, not ${wanted}`);
  }
  if (machine.instanceProfile === null) throw new BootFailure('the machine has no instance profile to join with');
  if (!machine.securityGroups.includes(cluster.securityGroup)) {
    throw new BootFailure(`the machine is not in the security group ${cluster.securityGroup}`);
  }
  for (const key of Object.keys(settings.labels)) {
    if (!mayLabelItself(key)) throw new BootFailure(`the kubelet may not put the label ${key} on its own node`);
  }
}

// kubelet --node-labels: of the reserved domains only these prefixes and names, or it does not start.
const OWN_PREFIXES = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const OWN_LABELS = [
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
];

function mayLabelItself(key: string): boolean {
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  const isWithin = (parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);
  if (!isWithin('kubernetes.io') && !isWithin('k8s.io')) return true;
  return OWN_LABELS.includes(key) || OWN_PREFIXES.some(isWithin);
}
