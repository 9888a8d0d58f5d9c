import type { NewNode } from '../solution.ts';
import type { ConsolidationPolicy, DisruptionReason, Hold } from './fleet.ts';

/** The target of one pod: a node of the fleet, or a new node of this or an earlier move, given by both indices. */
export type Landing =
  | { readonly pod: string; readonly node: string }
  | { readonly pod: string; readonly move: number; readonly newNode: number };

/** A new node of a move. Pods are numbered as in the fleet's list, and include pods that only later moves place on it. */
export type MoveNode = NewNode;

/** What kind of exchange a move is. */
export type MoveKind = 'delete' | 'replace' | 'merge' | 'split';

/** One step of consolidation: removes nodes, launches replacements, and places every pod. Valid in the order of the plan. */
export interface Move {
  readonly kind: MoveKind;
  /** Why its nodes are removed. */
  readonly reason: DisruptionReason;
  /** Names of the removed nodes. */
  readonly nodes: readonly string[];
  readonly newNodes: readonly MoveNode[];
  /** Names of existing nodes that must be filled as planned: they are closed to other pods while the move is carried out. */
  readonly fills?: readonly string[];
  /** Every pod of the removed nodes, in an order in which each placement is legal once all of them are evicted. */
  readonly landings: readonly Landing[];
  /** USD per hour: price of the removed nodes less price of the new ones. */
  readonly savings: number;
  /** 1 for each removed node, plus the eviction cost of its pods. */
  readonly disruptionCost: number;
  /** USD per hour saved for each unit of disruption. */
  readonly score: number;
  /** For messages. */
  readonly sentence: string;
}

/** Why a node is kept. */
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

/** A node that is kept. */
export interface KeptNode {
  readonly node: string;
  readonly cause: KeptCause;
  /** USD per hour that removing it would save, at most. */
  readonly wouldSave: number;
  /** For messages. */
  readonly sentence: string;
}

/**
 * How a plan was found. `exchanges`: exchanges that build on each other. `direct`: each pod moves at most once. `resized`:
 * wasteful nodes are replaced by smaller ones first. `rebuild`: all wasteful nodes are planned anew together.
 */
export type Way = 'exchanges' | 'direct' | 'resized' | 'rebuild';

/** The result of consolidation planning. */
export interface ConsolidationPlan {
  readonly moves: readonly Move[];
  /** Every node that no move removes, in the order of the fleet. */
  readonly kept: readonly KeptNode[];
  /** USD per hour of all nodes of the fleet, before and after all moves. */
  readonly priceBefore: number;
  readonly priceAfter: number;
  /** No fleet that runs these pods and keeps the nodes that may not be disrupted can cost less. */
  readonly lowerBound: number;
  /** Pods that move. */
  readonly evictions: number;
  /** Whether the search finished; false if time or steps ran out. */
  readonly complete: boolean;
  readonly way: Way;
  /** Units of work done. */
  readonly steps: number;
}
