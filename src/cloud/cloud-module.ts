/**
 * A cloud that can be enabled by name. The module holds only its name and options. SDKs are imported by `load` and `open`,
 * so a cloud that is not enabled costs no import and no memory.
 */
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import type { Node } from '../apis/kubernetes/node.ts';
import type { InstanceType } from '../engine/problem.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventRecorder } from '../kube/event-recorder.ts';
import type { Informer } from '../kube/informer.ts';
import type { Clock, EpochMs } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { OptionTable } from '../platform/options.ts';
import type { Random } from '../platform/random.ts';
import type { Cloud, CloudLabels } from './cloud.ts';
import type { NodeClass, NodeClassKind } from './node-class-kind.ts';

/** The dependencies that a driver is given. */
export interface CloudWorld {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly recorder: EventRecorder;
  /** The name of the cluster, with which its machines are tagged. */
  readonly cluster: string;
  /** Started by their owner, and synced before the cloud is opened. */
  readonly informers: CloudInformers;
}

/** The caches that a cloud may read. */
export interface CloudInformers {
  /** The node classes of the cloud's own kind. */
  readonly nodeClasses: Informer<NodeClass>;
  readonly nodeClaims: Informer<NodeClaim>;
  readonly nodePools: Informer<NodePool>;
  readonly nodes: Informer<Node>;
}

/** The input of `spindrift plan`, which runs without the autoscaler. */
export interface OfflineOptions {
  readonly now: EpochMs;
  readonly nodeClasses: readonly NodeClass[];
  /** The nodes of a live cluster. */
  readonly nodes?: readonly Node[];
  /** Use current prices where the cloud can be asked. */
  readonly live?: boolean;
  /** The catalogue file of node classes that name none. */
  readonly catalogFile?: string;
  /** For clouds whose node classes do not name a region. */
  readonly region?: string;
}

/** Why nothing can be launched from a node class. */
export interface MarketTrouble {
  readonly problem: string;
}

/** The instance types of node classes, as far as they are known without asking the cloud. */
export interface OfflineMarket {
  instanceTypes(nodeClass: string): readonly InstanceType[] | MarketTrouble;
}

/** A cloud whose code is loaded but which is not connected yet. */
export interface LoadedCloud {
  readonly name: string;
  readonly nodeClass: NodeClassKind;
  readonly labels: CloudLabels;
  /** Loads SDKs and gets credentials. Rejects with a sentence that says what is missing; the caller tries again. */
  open(world: CloudWorld): Promise<Cloud>;
  /** Absent if plans are impossible without asking the cloud. */
  offline?(options: OfflineOptions): OfflineMarket;
  /** A node class without restrictions, for plans whose manifests include none. */
  standIn?(name: string): NodeClass;
}

/** A cloud that `--cloud NAME` enables. */
export interface CloudModule {
  readonly name: string;
  /** The kind of its node classes. */
  readonly kind: { readonly group: string; readonly kind: string };
  /** Added to the options of `spindrift run`. Flags and variables begin with the cloud's name, unless they are Karpenter's. */
  readonly options: OptionTable;
  /** Required options. Commands that only read a cluster load the cloud without them. */
  readonly needs?: readonly string[];
  /** Loads the code, with the option values by their names in the table. */
  load(values: Readonly<Record<string, unknown>>): Promise<LoadedCloud>;
}
