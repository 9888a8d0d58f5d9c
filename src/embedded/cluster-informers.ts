/** One informer per kind for all parts of the cluster, so that each object is watched and cached only once. */
import { NAMESPACES } from '../apis/kubernetes/core.ts';
import { LEASES } from '../apis/kubernetes/lease.ts';
import { NODES } from '../apis/kubernetes/node.ts';
import type { KubeObject, Resource } from '../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../apis/kubernetes/pod-disruption-budget.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES } from '../apis/kubernetes/volumes.ts';
import {
  CONTROLLER_REVISIONS,
  CRON_JOBS,
  DAEMON_SETS,
  DEPLOYMENTS,
  JOBS,
  REPLICA_SETS,
  STATEFUL_SETS,
} from '../apis/kubernetes/workloads.ts';
import type { KubeClient, Selection } from '../kube/client.ts';
import { Informer } from '../kube/informer.ts';
import type { Indexer } from '../kube/object-cache.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Random } from '../platform/random.ts';

export interface ClusterInformersOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger?: Logger;
}

/** The namespace of the node leases. */
export const NODE_LEASES = 'kube-node-lease';

const byController: Indexer<KubeObject> = (object) => {
  const uid = object.metadata.ownerReferences?.find((owner) => owner.controller)?.uid;
  return uid === undefined ? [] : [uid];
};
const byNamespace: Indexer<KubeObject> = (object) => [object.metadata.namespace ?? ''];
/** Objects without a controller, by namespace. */
const byOrphanage: Indexer<KubeObject> = (object) =>
  object.metadata.ownerReferences?.some((owner) => owner.controller) ? [] : [object.metadata.namespace ?? ''];
/** Pods of Jobs, by namespace and name of the Job: pods of an earlier Job may have the same. */
const byJob: Indexer<Pod> = ({ metadata: { namespace, ownerReferences = [] } }) =>
  ownerReferences.flatMap(({ kind, name }) => (kind === 'Job' ? [`${namespace}/${name}`] : []));
const byNode: Indexer<Pod> = (pod) => (pod.spec.nodeName ? [pod.spec.nodeName] : []);

export class ClusterInformers {
  readonly #options: ClusterInformersOptions;
  readonly #all: Informer<never>[] = [];

  readonly pods;
  readonly nodes;
  readonly namespaces;
  readonly leases;
  readonly deployments;
  readonly replicaSets;
  readonly statefulSets;
  readonly daemonSets;
  readonly jobs;
  readonly cronJobs;
  readonly revisions;
  readonly budgets;
  readonly volumes;
  readonly claims;
  readonly storageClasses;

  constructor(options: ClusterInformersOptions) {
    this.#options = options;
    // Indexed by the uid of their controller, by namespace, and as `orphan` by namespace if they have no controller.
    const owned = { controller: byController, namespace: byNamespace, orphan: byOrphanage };
    this.pods = this.#informer(PODS, { ...owned, node: byNode, job: byJob });
    this.nodes = this.#informer(NODES);
    this.namespaces = this.#informer(NAMESPACES);
    this.leases = this.#informer(LEASES, {}, { namespace: NODE_LEASES });
    this.deployments = this.#informer(DEPLOYMENTS, { namespace: byNamespace });
    this.replicaSets = this.#informer(REPLICA_SETS, owned);
    this.statefulSets = this.#informer(STATEFUL_SETS, { namespace: byNamespace });
    this.daemonSets = this.#informer(DAEMON_SETS, { namespace: byNamespace });
    this.jobs = this.#informer(JOBS, owned);
    this.cronJobs = this.#informer(CRON_JOBS);
    this.revisions = this.#informer(CONTROLLER_REVISIONS, owned);
    this.budgets = this.#informer(POD_DISRUPTION_BUDGETS, { namespace: byNamespace });
    this.volumes = this.#informer(PERSISTENT_VOLUMES);
    this.claims = this.#informer(PERSISTENT_VOLUME_CLAIMS);
    this.storageClasses = this.#informer(STORAGE_CLASSES);
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.run(signal)));
  }

  /** Resolves when every cache holds the full state. */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.synced(signal)));
  }

  #informer<T extends KubeObject>(
    kind: Resource<T>,
    indexers: Readonly<Record<string, Indexer<T>>> = {},
    selection: Selection = {},
  ): Informer<T> {
    // Objects are cached whole: in memory they are the store's own, so a copy would cost more than it saves.
    const informer = new Informer<T>({ ...this.#options, kind, indexers, selection, transform: (object) => object });
    this.#all.push(informer as unknown as Informer<never>);
    return informer;
  }
}
