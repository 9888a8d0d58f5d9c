/** Reads the facts that machines need to join the cluster: its address, certificate authority, DNS and version. */
import { parse } from 'yaml';
import { CONFIG_MAPS } from '../../../apis/kubernetes/core.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import { type KubeObject, resource } from '../../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../../kube/client.ts';
import type { Clock } from '../../../platform/clock.ts';
import { hasCode, SpindriftError } from '../../../platform/errors.ts';
import type { ClusterFacts } from './join-settings.ts';

interface Service extends KubeObject {
  readonly spec?: { readonly clusterIP?: string };
}

const SERVICES = resource<Service>('v1', 'Service', 'services', 'namespaced');
/** The default of IKS and similar clusters. */
const DEFAULT_DNS = '172.21.0.10';
const DEFAULT_MINOR = '1.36';
const MAX_AGE_MS = 300_000;

export interface ClusterFactsOptions {
  readonly client: KubeClient;
  readonly nodes: () => readonly Node[];
  /** From an option; otherwise read from the cluster. */
  readonly endpoint?: string | undefined;
  readonly kubernetesMinor?: string | undefined;
}

/** Caches the facts: they hardly ever change, and many launches need them at once. */
export class KnownClusterFacts {
  readonly #options: ClusterFactsOptions & { readonly clock: Clock };
  #read:
    | { readonly facts: Promise<ClusterFacts>; readonly at: number; readonly ofClass: string | undefined }
    | undefined;

  constructor(options: ClusterFactsOptions & { readonly clock: Clock }) {
    this.#options = options;
  }

  async facts(ofClass: string | undefined, signal: AbortSignal): Promise<ClusterFacts> {
    const now = this.#options.clock.elapsed();
    const known = this.#read;
    if (known !== undefined && known.ofClass === ofClass && now - known.at < MAX_AGE_MS) {
      // If an earlier caller aborted the read, read again.
      const facts = await known.facts.catch(() => undefined);
      if (facts !== undefined) return facts;
    }
    const facts = clusterFacts(this.#options, ofClass, signal);
    this.#read = { facts, at: now, ofClass };
    return facts;
  }
}

/** Reads the facts. Rejects with a message if the address of the cluster is unknown. */
export async function clusterFacts(
  options: ClusterFactsOptions,
  ofClass: string | undefined,
  signal: AbortSignal,
): Promise<ClusterFacts> {
  const { client } = options;
  const info = await configMap(client, 'kube-public', 'cluster-info', signal);
  const cluster = clusterOf(info?.kubeconfig);
  const endpoint = ofClass ?? options.endpoint ?? cluster?.server;
  if (endpoint === undefined) {
    const problem =
      'the address of the API server is not known: write apiServerEndpoint in the IBMNodeClass, or set --ibm-cluster-endpoint';
    throw new SpindriftError('CLOUD_REFUSED', { operation: 'bootstrap', problem });
  }
  const root = await configMap(client, 'kube-system', 'kube-root-ca.crt', signal);
  const certificateAuthority = root?.['ca.crt'] ?? decode(cluster?.['certificate-authority-data']);
  if (certificateAuthority === undefined) {
    const problem = 'the ConfigMap kube-root-ca.crt in kube-system is missing: machines could not trust the API server';
    throw new SpindriftError('CLOUD_REFUSED', { operation: 'bootstrap', problem });
  }
  const dns =
    (await serviceAddress(client, 'kube-dns', signal)) ??
    (await serviceAddress(client, 'coredns', signal)) ??
    DEFAULT_DNS;
  return {
    endpoint,
    certificateAuthority,
    dns: [dns],
    kubernetesMinor: options.kubernetesMinor ?? minorOf(options.nodes()) ?? DEFAULT_MINOR,
  };
}

/** The lowest minor version among nodes: a kubelet may be older than its API server, but never newer. */
function minorOf(nodes: readonly Node[]): string | undefined {
  const minors = nodes.flatMap((node) => {
    const version = (node.status as { nodeInfo?: { kubeletVersion?: string } } | undefined)?.nodeInfo?.kubeletVersion;
    const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version ?? '') ?? [];
    return minor === undefined ? [] : [{ major: Number(major), minor: Number(minor) }];
  });
  const [oldest] = minors.sort((a, b) => a.major - b.major || a.minor - b.minor);
  return oldest === undefined ? undefined : `${oldest.major}.${oldest.minor}`;
}

interface KubeconfigCluster {
  readonly server?: string;
  readonly 'certificate-authority-data'?: string;
}

function clusterOf(kubeconfig: string | undefined): KubeconfigCluster | undefined {
  if (kubeconfig === undefined) return undefined;
  const { clusters } = (parse(kubeconfig) ?? {}) as { clusters?: readonly { cluster?: KubeconfigCluster }[] };
  return clusters?.[0]?.cluster;
}

async function configMap(
  client: KubeClient,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    return (await client.get(CONFIG_MAPS, { namespace, name }, { signal })).data;
  } catch (error) {
    if (hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_FORBIDDEN')) return undefined;
    throw error;
  }
}

async function serviceAddress(client: KubeClient, name: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const address = (await client.get(SERVICES, { namespace: 'kube-system', name }, { signal })).spec?.clusterIP;
    return address === 'None' ? undefined : address;
  } catch (error) {
    if (hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_FORBIDDEN')) return undefined;
    throw error;
  }
}

function decode(text: string | undefined): string | undefined {
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString();
}
