/** The kinds that Spindrift watches: one informer per kind, shared by all controllers. */

import { CAPACITY_BUFFERS, type CapacityBuffer } from '../apis/autoscaling/capacity-buffer.ts';
import { LABEL_NODE_POOL } from '../apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../apis/karpenter/node-claim.ts';
import { NODE_OVERLAYS, type NodeOverlay } from '../apis/karpenter/node-overlay.ts';
import { NODE_POOLS, type NodePool } from '../apis/karpenter/node-pool.ts';
import { NAMESPACES } from '../apis/kubernetes/core.ts';
import { LIMIT_RANGES } from '../apis/kubernetes/limit-range.ts';
import { NODES, type Node } from '../apis/kubernetes/node.ts';
import type { KubeObject, Resource } from '../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../apis/kubernetes/pod-disruption-budget.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES } from '../apis/kubernetes/volumes.ts';
import { DAEMON_SETS, DEPLOYMENTS, type Deployment } from '../apis/kubernetes/workloads.ts';
import { LEADER_WORKER_SETS, type LeaderWorkerSet } from '../apis/leader-worker-set/leader-worker-set.ts';
import { OPEN_MODELS, type OpenModel } from '../apis/llmaz/open-model.ts';
import { PLAYGROUNDS, type Playground } from '../apis/llmaz/playground.ts';
import { SPOT_POLICIES, type SpotPolicy } from '../apis/spindrift/spot-policy.ts';
import { nodeClassKey } from '../cloud/node-class-kind.ts';
import type { KubeClient } from '../kube/client.ts';
import { Informer } from '../kube/informer.ts';
import { OptionalInformer } from '../kube/optional-informer.ts';
import { untilServed } from '../kube/until-served.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Random } from '../platform/random.ts';
import { slimDeployment } from './availability/slim-deployment.ts';
import { type GpuNamesSetting, GpuNamesSource } from './gpu-names-source.ts';
import { isOfNode } from './is-of-node.ts';
import { slimNode } from './slim-node.ts';
import { SlimPods } from './slim-pods.ts';

export interface ClusterInformersOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger?: Logger;
  /** The kinds of the clouds' node classes. */
  readonly nodeClasses: readonly Resource[];
  /** Default true. False if the cluster does not have the kind; then there are no SpotPolicies. */
  readonly hasSpotPolicies?: boolean;
  /** Where the names of GPUs are read from; default: the built-in ones. */
  readonly gpuNames?: GpuNamesSetting | undefined;
  /** Whether Deployments and LeaderWorkerSets are watched, which may ask for ready replicas. Default true. */
  readonly workloads?: boolean;
}

/** Names of the indexes below. */
export const BY_NODE = 'node';
/** Only pods that belong to the node itself, such as static pods. */
export const STATIC_BY_NODE = 'static';
export const BY_PROVIDER_ID = 'providerID';
export const BY_POOL = 'pool';

export class ClusterInformers {
  /** Reduced to the fields that {@link SlimPods} keeps. */
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly nodeClaims: Informer<NodeClaim>;
  readonly nodePools: Informer<NodePool>;
  readonly spotPolicies: Informer<SpotPolicy>;
  readonly daemonSets;
  readonly namespaces;
  readonly limitRanges;
  readonly disruptionBudgets;
  readonly volumeClaims;
  readonly volumes;
  readonly storageClasses;
  /** Empty without llmaz. */
  readonly openModels: OptionalInformer<OpenModel>;
  /** Workloads that may ask for a number of ready replicas. Start-up does not wait for them. */
  readonly deployments: OptionalInformer<Deployment>;
  readonly leaderWorkerSets: OptionalInformer<LeaderWorkerSet>;
  readonly playgrounds: OptionalInformer<Playground>;
  /** Empty if the kind is not installed. */
  readonly capacityBuffers: OptionalInformer<CapacityBuffer>;
  /** Empty if the kind is not installed. */
  readonly nodeOverlays: OptionalInformer<NodeOverlay>;
  /** Names of GPUs in the labels of different clouds. */
  readonly gpuNames: GpuNamesSource;
  /** By `group/kind`. */
  readonly nodeClasses: ReadonlyMap<string, Informer<KubeObject>>;

  readonly #hasSpotPolicies: boolean;
  readonly #options: ClusterInformersOptions;

  constructor(options: ClusterInformersOptions) {
    const { nodeClasses, hasSpotPolicies = true, gpuNames = 'known', ...shared } = options;
    this.#options = options;
    this.#hasSpotPolicies = hasSpotPolicies;
    const slimPods = new SlimPods();
    this.pods = new Informer({
      ...shared,
      kind: PODS,
      transform: (pod) => slimPods.of(pod),
      indexers: {
        [BY_NODE]: ({ spec }) => (spec.nodeName ? [spec.nodeName] : []),
        [STATIC_BY_NODE]: (pod) => (pod.spec.nodeName && isOfNode(pod) ? [pod.spec.nodeName] : []),
      },
    });
    this.nodes = new Informer({
      ...shared,
      kind: NODES,
      transform: slimNode,
      indexers: { [BY_PROVIDER_ID]: ({ spec }) => (spec?.providerID ? [spec.providerID] : []) },
    });
    this.nodeClaims = new Informer({
      ...shared,
      kind: NODE_CLAIMS,
      indexers: {
        [BY_PROVIDER_ID]: ({ status }) => (status?.providerID ? [status.providerID] : []),
        [BY_POOL]: ({ metadata }) => [metadata.labels?.[LABEL_NODE_POOL] ?? ''],
      },
    });
    this.nodePools = new Informer({ ...shared, kind: NODE_POOLS });
    this.spotPolicies = new Informer({ ...shared, kind: SPOT_POLICIES });
    this.daemonSets = new Informer({ ...shared, kind: DAEMON_SETS });
    this.namespaces = new Informer({ ...shared, kind: NAMESPACES });
    this.limitRanges = new Informer({ ...shared, kind: LIMIT_RANGES });
    this.disruptionBudgets = new Informer({ ...shared, kind: POD_DISRUPTION_BUDGETS });
    this.volumeClaims = new Informer({ ...shared, kind: PERSISTENT_VOLUME_CLAIMS });
    this.volumes = new Informer({ ...shared, kind: PERSISTENT_VOLUMES });
    this.storageClasses = new Informer({ ...shared, kind: STORAGE_CLASSES });
    this.gpuNames = new GpuNamesSource({ ...shared, setting: gpuNames });
    this.openModels = new OptionalInformer({ ...shared, kind: OPEN_MODELS });
    this.deployments = new OptionalInformer({ ...shared, kind: DEPLOYMENTS, transform: slimDeployment });
    this.leaderWorkerSets = new OptionalInformer({ ...shared, kind: LEADER_WORKER_SETS });
    this.playgrounds = new OptionalInformer({ ...shared, kind: PLAYGROUNDS });
    this.capacityBuffers = new OptionalInformer({ ...shared, kind: CAPACITY_BUFFERS });
    this.nodeOverlays = new OptionalInformer({ ...shared, kind: NODE_OVERLAYS });
    this.nodeClasses = new Map(nodeClasses.map((kind) => [nodeClassKey(kind), new Informer({ ...shared, kind })]));
  }

  /** All watched kinds. */
  get kinds(): readonly Resource[] {
    return this.#all().map(({ kind }) => kind as Resource);
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const nodeClasses = [...this.nodeClasses.values()].map((informer) => this.#runWhenServed(informer, signal));
    const { openModels, capacityBuffers, nodeOverlays, deployments, leaderWorkerSets, playgrounds, gpuNames } = this;
    const workloads = this.#options.workloads === false ? [] : [deployments, leaderWorkerSets, playgrounds];
    const others = [...this.#all(), openModels, capacityBuffers, nodeOverlays, ...workloads, gpuNames];
    await Promise.all([...others.map((informer) => informer.run(signal)), ...nodeClasses]);
  }

  /**
   * Resolves when every cache is complete, except those of node classes: a node class kind that is not installed must hold up only its own
   * cloud.
   */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#all().map((informer) => informer.synced(signal)));
  }

  /** Resolves when the caches of node classes are complete too. */
  async nodeClassesSynced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.nodeClasses.values()].map((informer) => informer.synced(signal)));
  }

  #all(): {
    readonly kind: unknown;
    run(signal: AbortSignal): Promise<void>;
    synced(signal: AbortSignal): Promise<void>;
  }[] {
    const { pods, nodes, nodeClaims, nodePools, daemonSets, namespaces, limitRanges } = this;
    const { disruptionBudgets, volumeClaims, volumes, storageClasses } = this;
    return [
      ...[pods, nodes, nodeClaims, nodePools, daemonSets, namespaces, limitRanges],
      ...(this.#hasSpotPolicies ? [this.spotPolicies] : []),
      ...[disruptionBudgets, volumeClaims, volumes, storageClasses],
    ];
  }

  async #runWhenServed(informer: Informer<KubeObject>, signal: AbortSignal): Promise<void> {
    const { client, clock, logger } = this.#options;
    const { kind, group } = informer.kind;
    const onMissing = (): void =>
      logger?.warn('node class kind is not installed: pools that use it wait until it is', { kind, group });
    try {
      await untilServed(informer.kind, { client, clock, signal, onMissing });
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    await informer.run(signal);
  }
}
