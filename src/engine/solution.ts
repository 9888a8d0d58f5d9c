import type { Requirement, Resources } from './problem.ts';

/** One way to buy a new node. */
export interface RankedOffering {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: 'spot' | 'on-demand' | 'reserved';
  readonly reservationId?: string;
  readonly price: number;
}

/** A node to be made. */
export interface NewNode {
  readonly pool: string;
  /** What the launched node's labels must satisfy: the pool's requirements narrowed to what its pods need. */
  readonly requirements: readonly Requirement[];
  /** The offering the plan is priced with, first; then the alternatives in the order in which to try them. */
  readonly offerings: readonly RankedOffering[];
  /** Price of the first offering. */
  readonly price: number;
  /** Pod numbers. */
  readonly pods: readonly number[];
  /** Sum of the requests of its pods, without daemons. */
  readonly requests: Resources;
  /** It would be spot, if that were not out of the market. Whoever knows the market says so. */
  readonly spotFallback?: true;
}

/** Pods placed on a node that exists. */
export interface ExistingPlacement {
  readonly node: string;
  readonly pods: readonly number[];
}

/** The constraints of the funnel, in the order in which they are applied. */
export type Constraint =
  | 'healthy'
  | 'instance-type-of-pool'
  | 'taints'
  | 'requirements'
  | 'volume-zone'
  | 'resources'
  | 'host-ports'
  | 'daemons'
  | 'volume-attachments'
  | 'reservation-slots'
  | 'min-values'
  | 'limits'
  | 'topology';

/** How many offerings were still possible after a constraint. */
export interface FunnelStep {
  readonly constraint: Constraint;
  readonly left: number;
}

/** The offering that came closest, and what would have to change for it to do. */
export interface NearestMiss {
  readonly pool: string;
  /** As its nodes are labelled. */
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  /** The first constraint it fails. */
  readonly constraint: Constraint;
  /** What would have to change, in terms of that constraint: a key and wanted values, a resource and missing amount, a taint, a limit. */
  readonly change: NeededChange;
}

/** A domain that keeps a pod from a topology rule. */
export interface BlockingDomain {
  readonly domain: string;
  /** Pods that the rule counts there. */
  readonly pods: number;
  /** Some of the nodes that are there. */
  readonly nodes: readonly string[];
  readonly nodeCount: number;
  /** Some pool can make a node there. */
  readonly sold: boolean;
}

/** One thing that would have to change for a pod to be placed. */
export type NeededChange =
  | {
      readonly kind: 'label';
      readonly key: string;
      readonly wanted: string;
      readonly actual: string | undefined;
      /** Some values that the pool has of it, those that are written most alike first; none where it has none. */
      readonly offered: readonly string[];
    }
  | { readonly kind: 'taint'; readonly key: string; readonly value: string; readonly effect: string }
  | { readonly kind: 'resource'; readonly resource: string; readonly requested: number; readonly available: number }
  | { readonly kind: 'limit'; readonly pool: string; readonly resource: string; readonly missing: number }
  | { readonly kind: 'offering'; readonly what: 'unhealthy' | 'no-slots' }
  | { readonly kind: 'min-values'; readonly key: string; readonly wanted: number; readonly actual: number }
  | {
      readonly kind: 'topology';
      readonly rule: 'spread' | 'affinity' | 'anti-affinity';
      readonly topologyKey: string;
      /**
       * The domains that are the cause: those with too few pods for a spread, else those with pods that the rule is about.
       * Absent for rules about nodes.
       */
      readonly domains?: readonly BlockingDomain[];
      /** Of a spread. */
      readonly maxSkew?: number;
      /** Of a spread: the pods that are counted where the nearest offering is. */
      readonly podsHere?: number;
    }
  | {
      /** An anti-affinity keeps the pod apart from a daemon that will run on the node. */
      readonly kind: 'daemon';
      readonly daemon: string;
      readonly topologyKey: string;
      /** Whose anti-affinity it is. */
      readonly avoidedBy: 'pod' | 'daemon';
    }
  | { readonly kind: 'nothing-to-buy' };

/** Why a group of pods has no place. */
export interface UnplacedReason {
  /** Offerings over all pools before any constraint. */
  readonly offerings: number;
  readonly funnel: readonly FunnelStep[];
  readonly nearest: NearestMiss | undefined;
  /** Existing nodes looked at, and how many of them failed at each constraint. */
  readonly nodes: number;
  readonly nodesRejectedBy: Readonly<Partial<Record<Constraint, number>>>;
}

/** Pods of one group that could not be placed. */
export interface Unplaced {
  readonly group: number;
  readonly pods: readonly number[];
  readonly reason: UnplacedReason;
}

/** Milliseconds by phase, by the caller's clock; zeros without one. */
export interface PhaseTimes {
  readonly compile: number;
  readonly construct: number;
  readonly bound: number;
  readonly improve: number;
  readonly finish: number;
}

/** The engine's answer. */
export interface Solution {
  readonly newNodes: readonly NewNode[];
  readonly existing: readonly ExistingPlacement[];
  readonly unplaced: readonly Unplaced[];
  /** All placed pods, in an order in which each placement is legal when it is made. */
  readonly order: readonly number[];
  /** USD per hour of the new nodes. */
  readonly price: number;
  /** No plan that places the same pods on new nodes can cost less. */
  readonly lowerBound: number;
  /** (price - lowerBound) / price; 0 when nothing is bought. */
  readonly gap: number;
  readonly phases: PhaseTimes;
  /** Units of work done. */
  readonly steps: number;
}
