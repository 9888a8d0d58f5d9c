/**
 * What consolidation is asked: the nodes there are with all their pods, what may be disrupted now, and what could be
 * bought instead. Schedules, time zones, ages and windows have been evaluated by whoever builds the fleet.
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

/** Why a node goes: nothing on it has to move, or its pods can be held for less. */
export type DisruptionReason = 'Empty' | 'Underutilized';

/** Why a node may not be touched, whatever it would save. */
export type Hold =
  | 'do-not-disrupt'
  | 'not-ready'
  | 'nominated'
  | 'leaving'
  | 'consolidate-after'
  | 'spot-policy'
  | 'static-pool';

/** A pod that is not moved, but would have to be evicted before its node goes, and must not be now. */
export interface BlockingPod {
  /** namespace/name. */
  readonly pod: string;
  /** Names of the PodDisruptionBudgets that keep it: one that allows nothing, or several; none when it must not be disrupted. */
  readonly budgets: readonly string[];
}

/** A node as it runs. */
export interface FleetNode {
  readonly name: string;
  /** The pool it came from; a node without one is never touched, but can receive pods. */
  readonly pool?: string;
  readonly labels: Labels;
  readonly taints?: readonly Taint[];
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: RankedOffering['capacityType'];
  readonly reservationId?: string;
  /** USD per hour, now. */
  readonly price: number;
  /** What pods other than daemons can take in all, including `pods`; less what is promised to pods that are not there yet. */
  readonly allocatable: Resources;
  /** Volumes that can be attached in all, by CSI driver; a driver that is not named has no limit. */
  readonly volumeAttachLimits?: Readonly<Record<string, number>>;
  /** Ports that daemons hold. */
  readonly usedHostPorts?: readonly HostPort[];
  /** Daemons still to come, by number: pods that avoid them, or that they avoid, have no place there. */
  readonly daemonsToCome?: readonly number[];
  /** Keeps the node as it is. */
  readonly hold?: Hold;
  /** Keeps the node from going, too. */
  readonly blockedBy?: BlockingPod;
  /** It took the place of others not long ago: it may go if its pods have room elsewhere, but nothing is launched in its place. */
  readonly settling?: boolean;
  /** Cordoned, not ready or about to go: nothing is moved to it. */
  readonly closed?: boolean;
}

/** A pod that runs on a node and would have to run elsewhere if the node went (not a daemon, not a mirror pod). */
export interface FleetPod {
  /** namespace/name. */
  readonly name: string;
  /** Number of its group in `Fleet.groups`. */
  readonly group: number;
  readonly node: string;
  readonly doNotDisrupt?: boolean;
  /** Why it could not come again elsewhere, for people: then it must not be disrupted either. */
  readonly stuck?: string;
  /** What an eviction of it costs, from its priority and deletion cost. Default 1. */
  readonly evictionCost?: number;
  /** Whether whoever carries a plan out can put the pod that takes its place on the new node that the plan has for it. */
  readonly steerable?: boolean;
  /** Numbers of the PodDisruptionBudgets that select it. More than one makes the pod unevictable. */
  readonly disruptionBudgets?: readonly number[];
}

/** A PodDisruptionBudget. */
export interface FleetDisruptionBudget {
  /** namespace/name. */
  readonly name: string;
  /** Evictions it allows now. */
  readonly allowed: number;
}

/** When a pool's nodes may be consolidated. */
export type ConsolidationPolicy = 'WhenEmpty' | 'WhenEmptyOrUnderutilized' | 'Balanced';

/** What may be done to the nodes of a pool. A pool without an entry is not consolidated. */
export interface PoolDisruption {
  readonly pool: string;
  /** Default WhenEmptyOrUnderutilized. */
  readonly policy?: ConsolidationPolicy;
  /**
   * Nodes that may be disrupted now, by reason, those already being disrupted taken off; absent means any number. Each node that goes
   * takes one off for every reason.
   */
  readonly allowed?: Readonly<Partial<Record<DisruptionReason, number>>>;
}

/** Everything one consolidation is planned from. */
export interface Fleet {
  readonly nodes: readonly FleetNode[];
  /** What pods ask for; `count` is not looked at. */
  readonly groups: readonly PodGroup[];
  readonly pods: readonly FleetPod[];
  /** Pods that stay on their node until it is gone, such as daemons: rules about other pods see them. Their room is taken off already. */
  readonly boundPods?: readonly BoundPod[];
  readonly disruptionBudgets?: readonly FleetDisruptionBudget[];
  readonly poolDisruption: readonly PoolDisruption[];
  /** As in a problem; `usage` counts all nodes of the fleet. */
  readonly pools: readonly Pool[];
  readonly instanceTypes: readonly InstanceType[];
  readonly daemons?: readonly DaemonGroup[];
  readonly namespaces?: Readonly<Record<string, Labels>>;
}

/** What is worth doing, and how long to look for it. */
export interface ConsolidationOptions {
  /** A move must save at least this much, USD per hour. Default 0: anything above nothing. */
  readonly minSavings?: number;
  /** A move that launches nodes must save at least this share of the price of the nodes that go. Default 0.05. */
  readonly minSavingsShare?: number;
  /** A move must save at least this much for each unit of its disruption cost, USD per hour. Default 0. */
  readonly minSavingsPerDisruption?: number;
  /**
   * What the move of a pod must save, as a share of what a pod of the fleet costs on average: of several plans that one is taken which
   * saves most beyond the price of its moves. Default 0.1; with 0 only prices count.
   */
  readonly movePrice?: number;
  /** Spot makes way for as many spot nodes or more only if at least this many cheaper offerings would do for each. Default 15. */
  readonly spotDiversity?: number;
  /** Balanced pools: the least ratio of the share saved to the share disrupted. Default 0.5. */
  readonly balancedScore?: number;
  /**
   * Whether a node may go that has more pods of a PodDisruptionBudget than it allows now, if it allows any and no other node of the
   * plan needs it: the pods are then evicted in turns, each when the one before it runs again. Default false.
   */
  readonly evictInTurns?: boolean;
  /** Nodes re-packed together at most. Default 8. */
  readonly mergeSize?: number;
  /** Stop looking after this many milliseconds of `elapsedMs`. Default no limit; what was found by then is the plan. */
  readonly deadlineMs?: number;
  /** Milliseconds since planning began, from the caller's clock. */
  readonly elapsedMs?: () => number;
  /** Stop looking after this many units of work: the deadline to use when equal input must give equal output. */
  readonly maxSteps?: number;
}
