import type { Requirement, Resources } from './problem.ts';

/** One offering a new node can be launched from. */
export interface RankedOffering {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: 'spot' | 'on-demand' | 'reserved';
  readonly reservationId?: string;
  readonly price: number;
}

/** A node to launch. */
export interface NewNode {
  readonly pool: string;
  /** Requirements on the launched node's labels: the pool's, narrowed to the needs of its pods. */
  readonly requirements: readonly Requirement[];
  /** First the offering used for the plan's price, then the alternatives in the order to try them. */
  readonly offerings: readonly RankedOffering[];
  /** Price of the first offering. */
  readonly price: number;
  /** Pod numbers. */
  readonly pods: readonly number[];
  /** Sum of the requests of its pods, without daemons. */
  readonly requests: Resources;
  /** The node would be spot, but spot is unavailable. Set by the caller, who knows the availability of offerings. */
  readonly spotFallback?: true;
}

/** Pods placed on a node that exists. */
export interface ExistingPlacement {
  readonly node: string;
  readonly pods: readonly number[];
}

/** The constraints that rule out offerings, in the order in which they are applied. */
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

/** The offering that came closest, and the change it would need to be usable. */
export interface NearestMiss {
  readonly pool: string;
  /** The type's name as on its nodes' label. */
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  /** The first constraint it fails. */
  readonly constraint: Constraint;
  /** The needed change, in terms of that constraint: a key and wanted values, a resource and missing amount, a taint, a limit. */
  readonly change: NeededChange;
}

/** A domain because of which a topology rule keeps the pod from being placed. */
export interface BlockingDomain {
  readonly domain: string;
  /** Pods the rule counts in this domain. */
  readonly pods: number;
  /** Some of the nodes in this domain. */
  readonly nodes: readonly string[];
  readonly nodeCount: number;
  /** Some pool can launch a node in this domain. */
  readonly sold: boolean;
}

/** One thing that would have to change for a pod to be placed. */
export type NeededChange =
  | {
      readonly kind: 'label';
      readonly key: string;
      readonly wanted: string;
      readonly actual: string | undefined;
      /** Some of the values the pool offers for the key, most similar spelling first; empty if it offers none. */
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
       * The domains that cause the conflict: for a spread those with too few pods, otherwise those that hold the pods the
       * rule selects. Absent for rules about single nodes.
       */
      readonly domains?: readonly BlockingDomain[];
      /** Spreads only. */
      readonly maxSkew?: number;
      /** Spreads only: the pods counted in the domain of the nearest offering. */
      readonly podsHere?: number;
    }
  | {
      /** An anti-affinity between the pod and a daemon that will run on the node. */
      readonly kind: 'daemon';
      readonly daemon: string;
      readonly topologyKey: string;
      /** Which of the two has the anti-affinity. */
      readonly avoidedBy: 'pod' | 'daemon';
    }
  | { readonly kind: 'nothing-to-buy' };

/** Why the pods of a group could not be placed. */
export interface UnplacedReason {
  /** Offerings of all pools, before any constraint. */
  readonly offerings: number;
  readonly funnel: readonly FunnelStep[];
  readonly nearest: NearestMiss | undefined;
  /** Existing nodes checked, and how many of them failed at each constraint. */
  readonly nodes: number;
  readonly nodesRejectedBy: Readonly<Partial<Record<Constraint, number>>>;
}

/** Pods of one group that could not be placed. */
export interface Unplaced {
  readonly group: number;
  readonly pods: readonly number[];
  readonly reason: UnplacedReason;
}

/** Milliseconds per phase, by the caller's clock; zeros without a clock. */
export interface PhaseTimes {
  readonly compile: number;
  readonly construct: number;
  readonly bound: number;
  readonly improve: number;
  readonly finish: number;
}

/** The output of the engine. */
export interface Solution {
  readonly newNodes: readonly NewNode[];
  readonly existing: readonly ExistingPlacement[];
  readonly unplaced: readonly Unplaced[];
  /** All placed pods, in an order in which every single placement is legal. */
  readonly order: readonly number[];
  /** USD per hour of the new nodes. */
  readonly price: number;
  /** A lower bound: no plan that places the same pods on new nodes can cost less. */
  readonly lowerBound: number;
  /** (price - lowerBound) / price; 0 when no node is launched. */
  readonly gap: number;
  readonly phases: PhaseTimes;
  /** Units of work done. */
  readonly steps: number;
}
