/**
 * The input of consolidation: all nodes with their pods, the disruptions allowed now, and the offerings for replacements.
 * The caller has evaluated schedules, time zones, ages and budget windows.
 */
import type {
  BoundPod,
  DaemonGroup,
  HostPort,
  InstanceType,
  Labels,
  PodGroup,
  Pool,
  Resources,
  Taint,
} from '../problem.ts';
import type { RankedOffering } from '../solution.ts';

/** Why a node is removed: it is empty, or its pods can run for less. */
export type DisruptionReason = 'Empty' | 'Underutilized';

/** Why a node must not be disrupted, regardless of savings. */
export type Hold =
  | 'do-not-disrupt'
  | 'not-ready'
  | 'nominated'
  | 'leaving'
  | 'consolidate-after'
  | 'spot-policy'
  | 'static-pool';

/** A pod that the plan does not move, but that must be evicted before its node is removed, and cannot be evicted now. */
export interface BlockingPod {
  /** namespace/name. */
  readonly pod: string;
  /**
   * Names of the PodDisruptionBudgets that block it: one that allows no eviction, or several. Empty if the pod is marked
   * do-not-disrupt.
   */
  readonly budgets: readonly string[];
}

/** A running node. */
export interface FleetNode {
  readonly name: string;
  /** The pool it was launched from; a node without one is never disrupted, but can receive pods. */
  readonly pool?: string;
  readonly labels: Labels;
  readonly taints?: readonly Taint[];
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: RankedOffering['capacityType'];
  readonly reservationId?: string;
  /** USD per hour, now. */
  readonly price: number;
  /** Total for pods other than daemons, including `pods`, less the room reserved for pods that are not there yet. */
  readonly allocatable: Resources;
  /** Volumes that can be attached in total, by CSI driver; an absent driver has no limit. */
  readonly volumeAttachLimits?: Readonly<Record<string, number>>;
  /** Ports used by daemons. */
  readonly usedHostPorts?: readonly HostPort[];
  /** Daemons that have not started yet, by index. Pods with anti-affinity to or from them cannot be placed here. */
  readonly daemonsToCome?: readonly number[];
  /** Why the node must not be disrupted. */
  readonly hold?: Hold;
  /** The hold ends before nodes launched now could be replaced themselves, so the waste can be saved then. */
  readonly heldBriefly?: boolean;
  /** A pod that also keeps the node from being removed. */
  readonly blockedBy?: BlockingPod;
  /** A recent replacement: it may be removed if its pods have room elsewhere, but no node is launched to replace it. */
  readonly settling?: boolean;
  /** Cordoned, not ready or being disrupted: no pods are moved to it. */
  readonly closed?: boolean;
}

/** A pod that must run elsewhere when its node is removed (not a DaemonSet pod, not a mirror pod). */
export interface FleetPod {
  /** namespace/name. */
  readonly name: string;
  /** Number of its group in `Fleet.groups`. */
  readonly group: number;
  readonly node: string;
  readonly doNotDisrupt?: boolean;
  /** Why it cannot run elsewhere, for messages. Such a pod is not evicted. */
  readonly stuck?: string;
  /** The cost of evicting it, from its priority and deletion cost. Default 1. */
  readonly evictionCost?: number;
  /** Whether its recreated pod can be steered to the new node that the plan has for it. */
  readonly steerable?: boolean;
  /** Indices of the PodDisruptionBudgets that select it. More than one makes the pod unevictable. */
  readonly disruptionBudgets?: readonly number[];
}

/** A PodDisruptionBudget. */
export interface FleetDisruptionBudget {
  /** namespace/name. */
  readonly name: string;
  /** Evictions it allows now. */
  readonly allowed: number;
}

/** The consolidation policy of a pool. */
export type ConsolidationPolicy = 'WhenEmpty' | 'WhenEmptyOrUnderutilized' | 'Balanced';

/** Disruption settings of a pool. A pool without an entry is not consolidated. */
export interface PoolDisruption {
  readonly pool: string;
  /** Default WhenEmptyOrUnderutilized. */
  readonly policy?: ConsolidationPolicy;
  /**
   * Disruptions allowed right now, per reason, less those in progress. No entry means unlimited. Each removed node uses one up for
   * every reason.
   */
  readonly allowed?: Readonly<Partial<Record<DisruptionReason, number>>>;
}

/** The complete input of one consolidation. */
export interface Fleet {
  readonly nodes: readonly FleetNode[];
  /** The pods' requests and constraints; `count` is ignored. */
  readonly groups: readonly PodGroup[];
  readonly pods: readonly FleetPod[];
  /**
   * Pods that stay on their node until it is removed, such as daemons. Topology rules count them. Their requests are
   * already subtracted.
   */
  readonly boundPods?: readonly BoundPod[];
  readonly disruptionBudgets?: readonly FleetDisruptionBudget[];
  readonly poolDisruption: readonly PoolDisruption[];
  /** As in a problem; `usage` counts all nodes of the fleet. */
  readonly pools: readonly Pool[];
  readonly instanceTypes: readonly InstanceType[];
  readonly daemons?: readonly DaemonGroup[];
  readonly namespaces?: Readonly<Record<string, Labels>>;
}

/** Which moves are worth doing, and how long to search for them. */
export interface ConsolidationOptions {
  /** A move must save at least this much, USD per hour. Default 0: any saving counts. */
  readonly minSavings?: number;
  /** A move that launches nodes must save at least this share of the price of the removed nodes. Default 0.05. */
  readonly minSavingsShare?: number;
  /** A move must save at least this much for each unit of its disruption cost, USD per hour. Default 0. */
  readonly minSavingsPerDisruption?: number;
  /**
   * What moving a pod must save, as a share of the average price of a pod of the fleet. Of several plans the one with the
   * highest savings less the price of its moves is taken. Default 0.1; with 0 only prices count.
   */
  readonly movePrice?: number;
  /** Spot nodes are replaced by as many or more spot nodes only if each has at least this many cheaper offerings. Default 15. */
  readonly spotDiversity?: number;
  /** Balanced pools: the smallest allowed ratio of the share saved to the share disrupted. Default 0.5. */
  readonly balancedScore?: number;
  /**
   * Whether a node may be removed that has more pods of a PodDisruptionBudget than it allows now. The budget must allow at
   * least one eviction, and no other node of the plan may need it. The pods are then evicted one after another, each once
   * the previous one runs again. Default false.
   */
  readonly evictInTurns?: boolean;
  /** At most this many nodes are re-packed together. Default 8. */
  readonly mergeSize?: number;
  /** Stop searching after this many milliseconds of `elapsedMs` and return the plan found so far. Default no limit. */
  readonly deadlineMs?: number;
  /** Milliseconds since planning began, from the caller's clock. */
  readonly elapsedMs?: () => number;
  /** Stop searching after this many units of work. Use it as the deadline when equal input must give equal output. */
  readonly maxSteps?: number;
}
