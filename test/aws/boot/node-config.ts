/** AL2023: nodeadm merges the NodeConfig documents of the user data, in order, and starts the kubelet from the result. */
import { parse } from 'yaml';
import type { Taint } from '../../../src/apis/kubernetes/node.ts';
import { BootFailure, type BootSettings } from './boot-settings.ts';
import { kubeletFlags } from './kubelet-flags.ts';
import { type MimePart, mimeParts } from './mime.ts';
import { shellWords } from './shell-words.ts';

const TYPE = 'application/node.eks.aws';

interface NodeConfig {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly spec?: {
    readonly cluster?: {
      readonly name?: string;
      readonly apiServerEndpoint?: string;
      readonly certificateAuthority?: string;
      readonly cidr?: string;
    };
    readonly kubelet?: {
      readonly config?: {
        readonly maxPods?: number;
        readonly clusterDNS?: readonly string[];
        readonly registerWithTaints?: readonly Taint[];
        readonly kubeReserved?: Readonly<Record<string, string>>;
        readonly systemReserved?: Readonly<Record<string, string>>;
        readonly evictionHard?: Readonly<Record<string, string>>;
      };
      readonly flags?: readonly string[];
    };
    readonly instance?: { readonly localStorage?: { readonly strategy?: string } };
  };
}

/** What an AL2023 machine makes of its user data. */
export function readNodeConfig(userData: string): BootSettings {
  const documents = mimeParts(userData)
    .filter(isNodeConfig)
    .map(({ body }) => parse(body) as NodeConfig);
  if (documents.length === 0) throw new BootFailure(`nodeadm finds no part of type ${TYPE}`);
  for (const { apiVersion, kind } of documents) {
    if (apiVersion !== 'node.eks.aws/v1alpha1' || kind !== 'NodeConfig') {
      throw new BootFailure(`nodeadm does not know ${kind} of ${apiVersion}`);
    }
  }
  const { cluster = {}, kubelet = {}, instance } = documents.reduce(merged).spec ?? {};
  for (const field of ['name', 'apiServerEndpoint', 'certificateAuthority', 'cidr'] as const) {
    if (!cluster[field]) throw new BootFailure(`nodeadm misses spec.cluster.${field}`);
  }
  const config = kubelet.config ?? {};
  const flags = kubeletFlags((kubelet.flags ?? []).flatMap(shellWords));
  return {
    clusterName: cluster.name ?? '',
    endpoint: cluster.apiServerEndpoint ?? '',
    certificateAuthority: cluster.certificateAuthority ?? '',
    serviceCidr: cluster.cidr ?? '',
    labels: flags.labels,
    taints: [...(config.registerWithTaints ?? []), ...flags.taints],
    ...(config.maxPods === undefined ? {} : { maxPods: config.maxPods }),
    ...(config.clusterDNS === undefined ? {} : { clusterDns: config.clusterDNS }),
    kubeReserved: config.kubeReserved ?? {},
    systemReserved: config.systemReserved ?? {},
    evictionHard: config.evictionHard ?? {},
    usesInstanceStore: instance?.localStorage?.strategy === 'RAID0',
  };
}

function isNodeConfig({ contentType, body }: MimePart): boolean {
  return contentType === TYPE || (contentType === 'text/plain' && /^apiVersion: *node\.eks\.aws/m.test(body));
}

/** Later documents win; flags are added up. */
function merged(first: NodeConfig, second: NodeConfig): NodeConfig {
  const flags = [...(first.spec?.kubelet?.flags ?? []), ...(second.spec?.kubelet?.flags ?? [])];
  const spec = mergedMaps(first.spec ?? {}, second.spec ?? {}) as NonNullable<NodeConfig['spec']>;
  return { ...second, spec: { ...spec, kubelet: { ...spec.kubelet, flags } } };
}

function mergedMaps(first: object, second: object): object {
  const result: Record<string, unknown> = { ...first };
  for (const [key, value] of Object.entries(second)) {
    const before = result[key];
    result[key] = isMap(before) && isMap(value) ? mergedMaps(before, value) : value;
  }
  return result;
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
