import type { NewNode } from '../solution.ts';
import type { ConsolidationPolicy, DisruptionReason, Hold } from './fleet.ts';

/** Where one pod goes: to a node of the fleet, or to the new node of that number of a move of the plan: this one or one before. */
export type Landing =
  | { readonly pod: string; readonly node: string }
  | { readonly pod: string; readonly move: number; readonly newNode: number };

/** A new node of a move. Pods are numbered as in the fleet's list; those that only later moves bring are among them. */
export type MoveNode = NewNode;

/** What kind of exchange a move is. */
export type MoveKind = 'delete' | 'replace' | 'merge' | 'split';

/** One step of consolidation: some nodes go, others come, and every pod has a place. Legal in the order of the plan. */
export interface Move {
  readonly kind: MoveKind;
  /** Why all of its nodes go. */
  readonly reason: DisruptionReason;
  /** Names of the nodes that go. */
  readonly nodes: readonly string[];
  readonly newNodes: readonly MoveNode[];
  /** Names of nodes of the fleet that have to be filled as planned: whoever carries the move out closes them to others meanwhile. */
  readonly fills?: readonly string[];
  /** Every pod of the nodes that go, in an order in which each placement is legal once all of them have left. */
  readonly landings: readonly Landing[];
  /** USD per hour: price of what goes less price of what comes. */
  readonly savings: number;
  /** 1 for each node that goes and the eviction cost of its pods. */
  readonly disruptionCost: number;
  /** USD per hour saved for each unit of disruption. */
  readonly score: number;
  /** For people. */
  readonly sentence: string;
}

/** Why a node is left as it is. */
export type KeptCause =
  | { readonly kind: 'hold'; readonly hold: Hold }
  | { readonly kind: 'no-pool' }
  | { readonly kind: 'policy'; readonly pool: string; readonly policy: ConsolidationPolicy | 'none' }
  | { readonly kind: 'pod'; readonly pod: string; readonly stuck?: string }
  | { readonly kind: 'disruption-budget'; readonly budget: string; readonly pod: string; readonly allowed: number }
  | { readonly kind: 'several-disruption-budgets'; readonly pod: string }
  | { readonly kind: 'pool-budget'; readonly pool: string; readonly reason: DisruptionReason; readonly allowed: number }
  | { readonly kind: 'no-place'; readonly pod: string }
  | { readonly kind: 'price'; readonly price: number; readonly cheapest: number }
  | { readonly kind: 'small-saving'; readonly savings: number; readonly wanted: number }
  | { readonly kind: 'spot-diversity'; readonly offerings: number; readonly wanted: number }
  | { readonly kind: 'balanced'; readonly score: number; readonly wanted: number }
  | { readonly kind: 'order'; readonly rule: 'topology' | 'capacity' }
  | { readonly kind: 'unfinished' };

/** A node that is left as it is. */
export interface KeptNode {
  readonly node: string;
  readonly cause: KeptCause;
  /** What its end would save at most, USD per hour. */
  readonly wouldSave: number;
  /** For people. */
  readonly sentence: string;
}

/** How a plan was found: by exchanges that build on each other, by exchanges that each move a pod once, or all wasteful nodes anew. */
export type Way = 'exchanges' | 'direct' | 'rebuild';

/** What consolidation would do. */
export interface ConsolidationPlan {
  readonly moves: readonly Move[];
  /** Every node that no move touches, in the order of the fleet. */
  readonly kept: readonly KeptNode[];
  /** USD per hour of all nodes of the fleet, before and after all moves. */
  readonly priceBefore: number;
  readonly priceAfter: number;
  /** No fleet that runs these pods and leaves alone what may not be touched can cost less. */
  readonly lowerBound: number;
  /** Pods that move. */
  readonly evictions: number;
  /** Whether everything was looked at; false when time or steps ran out. */
  readonly complete: boolean;
  readonly way: Way;
  /** Units of work done. */
  readonly steps: number;
}
