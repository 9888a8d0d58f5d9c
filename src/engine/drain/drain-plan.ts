/** How the pods of a node leave before its machine goes. Times in epoch milliseconds. */
import type { DrainPod } from './drain-question.ts';

/** Why a pod will still be there when the machine goes. */
export type LateReason =
  /** The deadline is here, or has passed. */
  | { readonly kind: 'no-time' }
  /** Its budget lets nobody go, ever. */
  | { readonly kind: 'closed'; readonly budget: string }
  /** Its budget lets others go first, and its own turn comes too late: then, or never (infinity). */
  | { readonly kind: 'turns'; readonly budget: string; readonly allowed: number; readonly turnAt: number }
  /** Kubernetes evicts no pod that has several budgets. */
  | { readonly kind: 'several'; readonly budgets: readonly string[] };

/** When a pod is asked to leave, and by when it has to be gone. */
export interface DrainStep {
  readonly pod: DrainPod;
  /** From when on it is asked. */
  readonly askAt: number;
  /** When it will be let go, if every budget does what is expected of it. */
  readonly expectedAt: number;
  /** Its grace period ends at this time, or sooner where its own is shorter. */
  readonly endBy: number;
  /** What it is given from `expectedAt` on. */
  readonly graceMs: number;
}

/** A pod that cannot leave in time. */
export interface LatePod {
  readonly pod: DrainPod;
  readonly reason: LateReason;
}

export interface DrainPlan {
  /** A drain that starts later has to shorten somebody's grace period; infinity when nobody has to leave. */
  readonly latestStart: number;
  /** Every pod that has not been told to leave yet, in the order in which they are asked. */
  readonly steps: readonly DrainStep[];
  readonly late: readonly LatePod[];
}
