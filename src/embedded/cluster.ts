import { EventRecorder } from '../kube/event-recorder.ts';
import type { Clock } from '../platform/clock.ts';
import { type Logger, SILENT_LOGGER } from '../platform/logger.ts';
import type { Random } from '../platform/random.ts';
import { ApiServer } from './apiserver/api-server.ts';
import { ClusterInformers } from './cluster-informers.ts';
import { type ClusterController, clusterControllers } from './controllers/all.ts';
import type { NodeTimes } from './controllers/node/decide-node.ts';
import { EventExpiry } from './garbage-collection/event-expiry.ts';
import { GarbageCollector } from './garbage-collection/garbage-collector.ts';
import { InMemoryClient } from './in-memory-client.ts';
import { Kubelets } from './kubelet/kubelets.ts';
import type { PodDelays } from './kubelet/pod-script.ts';
import { Scheduler } from './scheduler/scheduler.ts';

/** Dependencies and settings of an embedded cluster. */
export interface EmbeddedClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger?: Logger;
  /** How long pods take to start, to become ready and to stop, unless they specify it; zero by default. */
  readonly delays?: Partial<PodDelays>;
  readonly rememberedEvents?: number;
  /** How long a node may be silent before it counts as lost. */
  readonly nodeTimes?: Partial<NodeTimes>;
  /** How often a node renews its lease. */
  readonly leaseRenewMs?: number;
}

/**
 * A Kubernetes cluster in this process: API server, scheduler, kubelets of simulated nodes, and the controllers of the
 * workloads. It has no timers and no sockets of its own, so it can run on a virtual clock for simulations.
 */
export class EmbeddedCluster {
  readonly server: ApiServer;
  readonly client: InMemoryClient;
  readonly kubelets: Kubelets;
  readonly #informers: ClusterInformers;
  readonly #parts: readonly ClusterController[];

  constructor(options: EmbeddedClusterOptions) {
    const { clock, delays, nodeTimes, leaseRenewMs, rememberedEvents, logger = SILENT_LOGGER } = options;
    const random = options.random.split('embedded-cluster');
    this.server = new ApiServer({
      clock,
      random,
      taintsNewNodes: true,
      ...(rememberedEvents === undefined ? {} : { rememberedEvents }),
    });
    this.client = new InMemoryClient(this.server, { fieldManager: 'embedded-cluster' });
    const { client } = this;
    this.#informers = new ClusterInformers({ client, clock, random, logger });
    const shared = { client, clock, random, logger, informers: this.#informers };
    const recorder = (component: string): EventRecorder => new EventRecorder({ client, clock, random, component });
    this.kubelets = new Kubelets({
      ...shared,
      ...(delays === undefined ? {} : { delays }),
      ...(leaseRenewMs === undefined ? {} : { leaseRenewMs }),
    });
    this.#parts = [
      this.kubelets,
      new Scheduler({ ...shared, recorder: recorder('default-scheduler') }),
      ...clusterControllers({
        ...shared,
        recorder,
        ...(nodeTimes === undefined ? {} : { nodeTimes }),
        namespacedKinds: () => this.server.world.kinds.collections().filter((kind) => kind.namespaced),
        finalizeNamespace: async (name) => {
          this.server.finalizeNamespace(name, []);
        },
      }),
    ];
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    new GarbageCollector(this.server).start(signal);
    new EventExpiry(this.server).start(signal);
    await Promise.all([this.#informers, ...this.#parts].map((part) => part.run(signal)));
  }

  /** Resolves when the informers hold the current state. */
  synced(signal: AbortSignal): Promise<void> {
    return this.#informers.synced(signal);
  }
}
