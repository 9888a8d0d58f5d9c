/** What has to be known to plan how pods leave a node that goes at a given time. Plain data; times in epoch milliseconds. */

/** A pod that is to leave. */
export interface DrainPod {
  readonly id: string;
  /** `namespace/name`, for sentences. */
  readonly name: string;
  /** How long it may take to end, by its own wish. */
  readonly graceMs: number;
  /** Those of the lowest number are asked first, and the next when they have left. */
  readonly group: number;
  /** The disruption budgets that must let it go. */
  readonly budgets: readonly string[];
  /** When another is made in its place: as soon as it is told to leave, when it has ended, or never. */
  readonly comesBack: 'at-once' | 'after-its-end' | 'never';
  /** How long the other one takes to be ready from then on. */
  readonly readyMs: number;
  /** Not to be disturbed until then, unless the node goes before; infinity: never. */
  readonly heldUntil?: number;
  /** It has been told to leave, and will have ended then. */
  readonly endsAt?: number;
}

/** A disruption budget as it stands. */
export interface DrainBudget {
  readonly name: string;
  /** How many of its pods may be away at a time; none of them ever may where it is 0. */
  readonly allowed: number;
  /** How many of those are away now, and will be back. */
  readonly away: number;
  /** How many of its pods have to leave other nodes at the same time. */
  readonly elsewhere: number;
}

export interface DrainQuestion {
  readonly pods: readonly DrainPod[];
  readonly budgets: readonly DrainBudget[];
  readonly now: number;
  /** When the machine goes. */
  readonly deadline: number;
  /** Pods end so much before that, where they can. */
  readonly marginMs: number;
}
