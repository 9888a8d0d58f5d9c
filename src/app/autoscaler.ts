/** Composes the autoscaler: informers, state, clouds, and every controller. */
import type { Resource } from '../apis/kubernetes/object.ts';
import type { LoadedCloud } from '../cloud/cloud-module.ts';
import type { EnabledClouds } from '../cloud/clouds.ts';
import type { NamedConditions } from '../cloud/node-conditions/notices-of-node.ts';
import { UnavailableOfferings } from '../cloud/unavailable-offerings.ts';
import { type AllControllersOptions, allControllers } from '../controllers/all.ts';
import { lastingParts } from '../controllers/lasting-parts.ts';
import type { BatchWindow } from '../controllers/provisioning/batcher.ts';
import { DecisionLog } from '../controllers/provisioning/decision-log.ts';
import { SpotPolicies } from '../controllers/spot-policy/spot-policies.ts';
import { warmUp } from '../engine/warm-up.ts';
import type { KubeClient } from '../kube/client.ts';
import { EventRecorder } from '../kube/event-recorder.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Random } from '../platform/random.ts';
import { ClusterInformers } from '../state/cluster-informers.ts';
import { ClusterState } from '../state/cluster-state.ts';
import type { GpuNamesSetting } from '../state/gpu-names-source.ts';
import { enabledClouds } from './enabled-clouds.ts';

export interface AutoscalerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly cluster: string;
  /** Both are read again for every batch of pods, as they can change while the autoscaler runs. */
  readonly batchIdleMs: number;
  readonly batchMaxMs: number;
  /** Limits the engine's work under a virtual clock, which stands still while it works. */
  readonly solveSteps?: number;
  /** The enabled clouds. */
  readonly clouds: readonly LoadedCloud[];
  /** Node conditions to treat as interruption notices, beside the built-in ones. */
  readonly dangerousConditions?: NamedConditions;
  /** The source of GPU names; the built-in list by default. */
  readonly gpuNames?: GpuNamesSetting | undefined;
  /** The least that consolidation must save per evicted pod, as a share of the average price of a pod. */
  readonly movePrice?: number;
  /** Whether to write pod-deletion-cost on pods of ReplicaSets. */
  readonly podDeletionCost?: boolean;
  /** Whether to keep the replicas ready that annotations ask for. Default true. */
  readonly readyReplicas?: boolean;
}

export class Autoscaler {
  readonly decisions = new DecisionLog();
  readonly #informers: ClusterInformers;
  readonly #clouds: EnabledClouds;
  readonly #controllers: AllControllersOptions;
  #synced = false;

  constructor(options: AutoscalerOptions) {
    const { client, clock, logger, metrics, cluster, solveSteps } = options;
    const random = options.random.split('autoscaler');
    const nodeClasses = options.clouds.map(({ nodeClass }) => nodeClass.resource);
    const informers = new ClusterInformers({
      ...{ client, clock, random, logger, nodeClasses },
      gpuNames: options.gpuNames,
      workloads: options.readyReplicas !== false,
    });
    const recorder = new EventRecorder({ client, clock, random, logger, component: 'karpenter' });
    const policies = new SpotPolicies(informers);
    const ttlMs = (pool = ''): number => policies.for(pool).unavailableForMs;
    const unavailable = new UnavailableOfferings({ clock, ttlMs });
    const world = { client, clock, random, logger, metrics, recorder, cluster };
    const { dangerousConditions } = options;
    const named = dangerousConditions && { dangerousConditions };
    const clouds = enabledClouds(options.clouds, { ...world, informers, unavailable, ...named });
    const state = new ClusterState(informers, (claim) => clouds.isOurs(claim));
    const shared = { client, clock, random, logger, metrics, recorder, state, clouds };
    this.#informers = informers;
    const batch: BatchWindow = {
      get idleMs() {
        return options.batchIdleMs;
      },
      get maxMs() {
        return options.batchMaxMs;
      },
    };
    const provisioning = { batch, ...(solveSteps === undefined ? {} : { solveSteps }) };
    const { decisions } = this;
    const lasting = lastingParts({ ...shared, unavailable });
    this.#clouds = clouds;
    const { podDeletionCost = false, movePrice } = options;
    const consolidation = { criteria: movePrice === undefined ? {} : { movePrice } };
    this.#controllers = { ...shared, decisions, lasting, policies, provisioning, consolidation, podDeletionCost };
  }

  /** The kinds it watches. */
  get kinds(): readonly Resource[] {
    return this.#informers.kinds;
  }

  /** Whether the caches are synced. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Keeps the caches in sync until the signal aborts, also while another replica leads. */
  async watch(signal: AbortSignal): Promise<void> {
    void this.#informers.synced(signal).then(
      () => {
        this.#synced = true;
      },
      () => {},
    );
    const opening = this.#clouds.run(signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    await Promise.all([this.#informers.run(signal), opening]);
  }

  /**
   * Runs the controllers until the signal aborts; `watch` must be running. It can be called again for the next term of
   * leadership: controllers are created anew each time and remember nothing.
   */
  async act(signal: AbortSignal): Promise<void> {
    await this.#informers.synced(signal);
    warmUp();
    const controllers = allControllers(this.#controllers).map((controller) => controller.run(signal));
    await Promise.all([this.#clouds.runControllers(signal), ...controllers]);
  }
}
