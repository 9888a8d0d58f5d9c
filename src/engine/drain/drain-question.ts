/** The input for planning how pods leave a node that is terminated at a given time. Plain data; times in epoch milliseconds. */

/** A pod that must leave. */
export interface DrainPod {
  readonly id: string;
  /** `namespace/name`, for messages. */
  readonly name: string;
  /** Its own grace period. */
  readonly graceMs: number;
  /** Groups with lower numbers are evicted first; the next follows when they have left. */
  readonly group: number;
  /** The PodDisruptionBudgets that must allow its eviction. */
  readonly budgets: readonly string[];
  /** When its replacement pod is created: as soon as it is evicted, after it has ended, or never. */
  readonly comesBack: 'at-once' | 'after-its-end' | 'never';
  /** How long the replacement pod then takes to become ready. */
  readonly readyMs: number;
  /** Not to be disrupted until then, unless the node is terminated before; infinity means never. */
  readonly heldUntil?: number;
  /** It is terminating, and will have ended at this time. */
  readonly endsAt?: number;
}

/** The current state of a PodDisruptionBudget. */
export interface DrainBudget {
  readonly name: string;
  /** How many of its pods may be away at a time; 0 means it never allows an eviction. */
  readonly allowed: number;
  /** How many of those are away now, and will be back. */
  readonly away: number;
  /** How many of its pods must leave other nodes at the same time. */
  readonly elsewhere: number;
}

export interface DrainQuestion {
  readonly pods: readonly DrainPod[];
  readonly budgets: readonly DrainBudget[];
  readonly now: number;
  /** When the node is terminated. */
  readonly deadline: number;
  /** Pods should have ended this long before the deadline, if possible. */
  readonly marginMs: number;
}
