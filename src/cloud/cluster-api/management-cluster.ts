/** MachineDeployments and Machines of this cluster in the management cluster: from a cache while it runs, else by asking. */
import { CORE_VERSIONS, type CoreKinds, coreKinds } from '../../apis/cluster-api/core-kinds.ts';
import type { CoreMachine } from '../../apis/cluster-api/machine.ts';
import type { MachineDeployment } from '../../apis/cluster-api/machine-deployment.ts';
import { LABEL_CLUSTER_NAME } from '../../apis/cluster-api/names.ts';
import { type KubeObject, keyOf, keyText, type Resource } from '../../apis/kubernetes/object.ts';
import type { KubeClient, Selection } from '../../kube/client.ts';
import { Informer } from '../../kube/informer.ts';
import type { Clock } from '../../platform/clock.ts';
import { hasCode, SpindriftError } from '../../platform/errors.ts';
import type { Random } from '../../platform/random.ts';
import { LABEL_CLAIM_UID } from './own-names.ts';

export interface ManagementClusterOptions {
  readonly client: KubeClient;
  readonly kinds: CoreKinds;
  readonly clock: Clock;
  readonly random: Random;
  /** Only objects of this namespace; all when absent. */
  readonly namespace?: string;
  /** Only objects of this Cluster; all when absent. */
  readonly cluster?: string;
}

const BY_CLAIM = 'claim';
const BY_PROVIDER_ID = 'providerID';

export class ManagementCluster {
  readonly options: ManagementClusterOptions;
  readonly deploymentCache: Informer<MachineDeployment>;
  readonly machineCache: Informer<CoreMachine>;
  readonly #selection: Selection;
  #running = false;

  constructor(options: ManagementClusterOptions) {
    const { client, kinds, clock, random, namespace, cluster } = options;
    this.options = options;
    this.#selection = {
      ...(namespace !== undefined && { namespace }),
      ...(cluster !== undefined && { labelSelector: `${LABEL_CLUSTER_NAME}=${cluster}` }),
    };
    const shared = { client, clock, random, selection: this.#selection };
    this.deploymentCache = new Informer({ ...shared, kind: kinds.machineDeployments });
    this.machineCache = new Informer({
      ...shared,
      kind: kinds.machines,
      indexers: {
        [BY_CLAIM]: ({ metadata }) =>
          metadata.labels?.[LABEL_CLAIM_UID] === undefined ? [] : [metadata.labels[LABEL_CLAIM_UID]],
        [BY_PROVIDER_ID]: ({ spec }) => (spec?.providerID === undefined ? [] : [spec.providerID]),
      },
    });
  }

  /** Keeps the caches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#running = true;
    try {
      await Promise.all([this.deploymentCache.run(signal), this.machineCache.run(signal)]);
    } finally {
      this.#running = false;
    }
  }

  async deployments(signal: AbortSignal): Promise<readonly MachineDeployment[]> {
    return this.#all(this.deploymentCache, this.options.kinds.machineDeployments, signal);
  }

  /** The MachineDeployment of a key, `namespace/name`. */
  async deployment(key: string, signal: AbortSignal): Promise<MachineDeployment | undefined> {
    if (this.#running && this.deploymentCache.hasSynced) return this.deploymentCache.get(key);
    return (await this.deployments(signal)).find((deployment) => keyText(keyOf(deployment)) === key);
  }

  async machines(signal: AbortSignal): Promise<readonly CoreMachine[]> {
    return this.#all(this.machineCache, this.options.kinds.machines, signal);
  }

  /** The machines that carry a claim's UID, read from the API server: an old answer could lead to a second launch. */
  async machinesOf(claimUID: string, signal: AbortSignal): Promise<readonly CoreMachine[]> {
    const { client, kinds, namespace } = this.options;
    const labelSelector = `${LABEL_CLAIM_UID}=${claimUID}`;
    return (
      await client.list(kinds.machines, { ...(namespace !== undefined && { namespace }), labelSelector }, { signal })
    ).items;
  }

  /** The machine of a provider ID. */
  async machine(providerID: string, signal: AbortSignal): Promise<CoreMachine | undefined> {
    if (this.#running && this.machineCache.hasSynced) return this.machineCache.byIndex(BY_PROVIDER_ID, providerID)[0];
    return (await this.machines(signal)).find(({ spec }) => spec?.providerID === providerID);
  }

  async #all<T extends KubeObject>(cache: Informer<T>, kind: Resource<T>, signal: AbortSignal): Promise<readonly T[]> {
    signal.throwIfAborted();
    if (this.#running) {
      await cache.synced(signal);
      return cache.list();
    }
    const found: T[] = [];
    let next: string | undefined;
    do {
      const query = { ...this.#selection, limit: 500, ...(next !== undefined && { continue: next }) };
      const page = await this.options.client.list(kind, query, { signal });
      found.push(...page.items);
      next = page.continue;
    } while (next !== undefined);
    return found;
  }
}

/** The core kinds in the newest version that is served; CLOUD_UNAVAILABLE where Cluster API is not installed. */
export async function servedCoreKinds(client: KubeClient, signal?: AbortSignal): Promise<CoreKinds> {
  for (const version of CORE_VERSIONS) {
    const kinds = coreKinds(version);
    try {
      await client.list(kinds.machineDeployments, { limit: 1 }, signal === undefined ? {} : { signal });
      return kinds;
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }
  const problem =
    'it does not serve MachineDeployments of cluster.x-k8s.io: install Cluster API, or name another with --cluster-api-kubeconfig';
  throw new SpindriftError('CLOUD_UNAVAILABLE', { operation: 'reading the management cluster', problem });
}
