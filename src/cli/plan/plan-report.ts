/** A plan as data: what `-o json` and `-o yaml` print, and what the table is made from. */
import type { UnplacedReason } from '../../engine/solution.ts';

/** A machine that would be launched. */
export interface PlannedNode {
  readonly pool: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly reservationId?: string;
  /** USD per hour. */
  readonly price: number;
  /** How many other offerings a launch could fall back on. */
  readonly alternatives: number;
  /** What its pods ask for together: cpu in millicores, everything else in base units. */
  readonly requests: Readonly<Record<string, number>>;
  /** `namespace/name`. */
  readonly pods: readonly string[];
}

/** Pods that no machine would be launched for, for the same reason. */
export interface PodsWithoutPlace {
  readonly pods: readonly string[];
  /** One sentence. */
  readonly why: string;
  /** What to do about it, where that is known. */
  readonly advice?: string;
  readonly reason?: UnplacedReason;
}

/** The whole plan. */
export interface PlanReport {
  readonly nodes: readonly PlannedNode[];
  /** USD of what is bought: reserved machines are paid for already. */
  readonly price: { readonly perHour: number; readonly perMonth: number };
  /** No plan for these pods costs less an hour. */
  readonly lowerBound: number;
  /** By which share of the price the plan may be dearer than the best one. */
  readonly gap: number;
  readonly podsPlaced: number;
  readonly withoutPlace: readonly PodsWithoutPlace[];
  /** What was taken for granted. */
  readonly notes: readonly string[];
}
