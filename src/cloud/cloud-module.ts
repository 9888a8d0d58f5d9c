/**
 * A cloud that can be enabled by name. The module itself is light: its name and its options. What it needs to work, SDKs
 * above all, is imported by `load` and `open`, so that a cloud that is not enabled costs nothing.
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

/** What a cloud works with. */
export interface CloudWorld {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly recorder: EventRecorder;
  /** The name of the cluster, which its machines carry. */
  readonly cluster: string;
  /** Run by whoever made them, and full before a cloud is opened. */
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

/** What a plan without a running autoscaler is made from. */
export interface OfflineOptions {
  readonly now: EpochMs;
  readonly nodeClasses: readonly NodeClass[];
  /** The nodes of a live cluster, whose machines count. */
  readonly nodes?: readonly Node[];
  /** Prices are those of this moment where they can be known. */
  readonly live?: boolean;
  /** A file that is sold where a node class names none. */
  readonly catalogFile?: string;
  /** For clouds whose node classes do not say it. */
  readonly region?: string;
}

/** Why nothing can be had from a node class. */
export interface MarketTrouble {
  readonly problem: string;
}

/** What node classes sell, as far as it is known without asking the cloud. */
export interface OfflineMarket {
  instanceTypes(nodeClass: string): readonly InstanceType[] | MarketTrouble;
}

/** A cloud whose code is loaded, and which has not been opened. */
export interface LoadedCloud {
  readonly name: string;
  readonly nodeClass: NodeClassKind;
  readonly labels: CloudLabels;
  /** Loads SDKs and gets credentials. Rejects with a sentence that says what is missing; it is tried again then. */
  open(world: CloudWorld): Promise<Cloud>;
  /** Absent where plans cannot be made without asking the cloud. */
  offline?(options: OfflineOptions): OfflineMarket;
  /** A node class that sells everything, for plans whose manifests leave theirs out. */
  standIn?(name: string): NodeClass;
}

/** A cloud that `--cloud NAME` enables. */
export interface CloudModule {
  readonly name: string;
  /** The kind of its node classes. */
  readonly kind: { readonly group: string; readonly kind: string };
  /** Joins the options of `spindrift run`. Flags and variables begin with the cloud's name, or are upstream's. */
  readonly options: OptionTable;
  /** Names of options without which it cannot be enabled. Commands that only read a cluster load a cloud without them. */
  readonly needs?: readonly string[];
  /** Takes the values of its options, by the names in the table. */
  load(values: Readonly<Record<string, unknown>>): Promise<LoadedCloud>;
}
