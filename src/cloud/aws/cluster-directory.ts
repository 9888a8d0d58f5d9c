/** The facts that nodes need to join the cluster, and the Kubernetes version of their images. */
import type { Node } from '../../apis/kubernetes/node.ts';
import { type KubeObject, resource } from '../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../kube/client.ts';
import { KubeError } from '../../kube/kube-error.ts';
import type { Clock } from '../../platform/clock.ts';
import { SpindriftError } from '../../platform/errors.ts';
import type { AwsApi } from './api/aws-api.ts';
import { isNotFound } from './api/aws-error.ts';
import { CachedQuery } from './selectors/cached-query.ts';
import type { ClusterFacts } from './user-data/join-settings.ts';

interface Service extends KubeObject {
  readonly spec?: { readonly clusterIP?: string };
}

const SERVICES = resource<Service>('v1', 'Service', 'services', 'namespaced');
const KEPT_MS = 5 * 60_000;

/** The user's settings. Missing ones are looked up. */
export interface ClusterSettings {
  readonly name: string;
  readonly endpoint?: string;
  readonly caBundle?: string;
  readonly serviceCidr?: string;
  readonly kubernetesVersion?: string;
}

export interface ClusterDirectoryOptions {
  readonly api: AwsApi;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly nodes: () => readonly Node[];
  readonly settings: ClusterSettings;
}

interface EksCluster {
  readonly endpoint?: string;
  readonly caBundle?: string;
  readonly serviceCidr?: string;
  readonly version?: string;
}

export class ClusterDirectory {
  readonly #options: ClusterDirectoryOptions;
  readonly #eks: CachedQuery<string, EksCluster>;
  readonly #dns: CachedQuery<string, string | undefined>;

  constructor(options: ClusterDirectoryOptions) {
    this.#options = options;
    this.#eks = new CachedQuery(options.clock, KEPT_MS, (name, signal) => this.#askEks(name, signal));
    this.#dns = new CachedQuery(options.clock, KEPT_MS, (name, signal) => this.#askDns(name, signal));
  }

  /** CLOUD_NOT_CONFIGURED if the address of the API server is unknown. */
  async facts(signal: AbortSignal): Promise<ClusterFacts> {
    const { settings } = this.#options;
    const complete =
      settings.endpoint !== undefined && settings.caBundle !== undefined && settings.serviceCidr !== undefined;
    const eks = complete ? {} : await this.#eks.get(settings.name, signal);
    const dns = await this.#dns.get('kube-dns', signal);
    const endpoint = settings.endpoint ?? eks.endpoint;
    if (endpoint === undefined) {
      throw new SpindriftError('CLOUD_NOT_CONFIGURED', {
        cloud: 'aws',
        problem: `EKS has no cluster ${settings.name}: correct --cluster-name, or set --cluster-endpoint for a cluster that is not of EKS`,
      });
    }
    const caBundle = settings.caBundle ?? eks.caBundle;
    const serviceCidr = settings.serviceCidr ?? eks.serviceCidr;
    return {
      name: settings.name,
      endpoint,
      ...(caBundle === undefined ? {} : { caBundle }),
      ...(serviceCidr === undefined ? {} : { serviceCidr }),
      ...(dns === undefined ? {} : { dns }),
    };
  }

  /** `1.33`: from the user's settings, from EKS, or from the newest node. */
  async kubernetesVersion(signal: AbortSignal): Promise<string> {
    const { settings, nodes } = this.#options;
    const said = settings.kubernetesVersion ?? (await this.#eks.get(settings.name, signal)).version;
    const version = said ?? newest(nodes().map((node) => node.status?.nodeInfo?.kubeletVersion ?? ''));
    if (version !== undefined) return version;
    throw new SpindriftError('CLOUD_NOT_CONFIGURED', {
      cloud: 'aws',
      problem:
        'the version of Kubernetes is not known, which images are chosen by: set --aws-kubernetes-version, as in 1.33',
    });
  }

  /** A cluster that EKS does not know, or that may not be described, counts as not managed by EKS. */
  async #askEks(name: string, signal: AbortSignal): Promise<EksCluster> {
    try {
      const { cluster } = await this.#options.api.call('eks:DescribeCluster', { name }, signal);
      const network = cluster?.kubernetesNetworkConfig;
      return defined({
        endpoint: cluster?.endpoint,
        caBundle: cluster?.certificateAuthority?.data,
        serviceCidr: network?.serviceIpv4Cidr ?? network?.serviceIpv6Cidr,
        version: cluster?.version,
      });
    } catch (error) {
      if (isNotFound(error)) return {};
      throw error;
    }
  }

  async #askDns(name: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const { spec } = await this.#options.client.get(SERVICES, { namespace: 'kube-system', name }, { signal });
      return spec?.clusterIP === 'None' ? undefined : spec?.clusterIP;
    } catch (error) {
      if (error instanceof KubeError && error.code === 'KUBE_NOT_FOUND') return undefined;
      throw error;
    }
  }
}

function newest(versions: readonly string[]): string | undefined {
  const minors = versions.flatMap((version) => /^v?1\.(\d+)/.exec(version)?.[1] ?? []).map(Number);
  return minors.length === 0 ? undefined : `1.${Math.max(...minors)}`;
}

function defined(cluster: { readonly [K in keyof EksCluster]: string | undefined }): EksCluster {
  return Object.fromEntries(Object.entries(cluster).filter(([, value]) => value !== undefined));
}
