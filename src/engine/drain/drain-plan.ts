/** The plan of how a node's pods leave before the node is terminated. Times in epoch milliseconds. */
import type { DrainPod } from './drain-question.ts';

/** Why a pod will still be running when the node is terminated. */
export type LateReason =
  /** The deadline is here, or has passed. */
  | { readonly kind: 'no-time' }
  /** Its budget never allows an eviction. */
  | { readonly kind: 'closed'; readonly budget: string }
  /** Its budget allows other pods first, and its own eviction at `turnAt` is too late; infinity means never. */
  | { readonly kind: 'turns'; readonly budget: string; readonly allowed: number; readonly turnAt: number }
  /** Kubernetes evicts no pod that is selected by several budgets. */
  | { readonly kind: 'several'; readonly budgets: readonly string[] };

/** When a pod is evicted, and when it must have ended. */
export interface DrainStep {
  readonly pod: DrainPod;
  /** Evictions are requested from this time on. */
  readonly askAt: number;
  /** When the eviction will be allowed, if every budget behaves as expected. */
  readonly expectedAt: number;
  /** Its grace period ends at this time, or sooner if its own is shorter. */
  readonly endBy: number;
  /** The grace period it gets if evicted at `expectedAt`. */
  readonly graceMs: number;
}

/** A pod that cannot end in time. */
export interface LatePod {
  readonly pod: DrainPod;
  readonly reason: LateReason;
}

export interface DrainPlan {
  /** A drain that starts later must shorten a grace period; infinity if no pod has to leave. */
  readonly latestStart: number;
  /** Every pod that is not terminating yet, in the order of the evictions. */
  readonly steps: readonly DrainStep[];
  readonly late: readonly LatePod[];
}
