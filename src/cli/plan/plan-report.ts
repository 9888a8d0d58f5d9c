/** A plan as data: printed by `-o json` and `-o yaml`, and the source of the table. */
import type { UnplacedReason } from '../../engine/solution.ts';

/** A node that would be launched. */
export interface PlannedNode {
  readonly pool: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly reservationId?: string;
  /** USD per hour. */
  readonly price: number;
  /** How many other offerings the launch can fall back to. */
  readonly alternatives: number;
  /** Requests of its pods: cpu in millicores, everything else in base units. */
  readonly requests: Readonly<Record<string, number>>;
  /** `namespace/name`. */
  readonly pods: readonly string[];
}

/** Pods that are unschedulable for the same reason. */
export interface PodsWithoutPlace {
  readonly pods: readonly string[];
  /** One sentence. */
  readonly why: string;
  /** The remedy, where it is known. */
  readonly advice?: string;
  readonly reason?: UnplacedReason;
}

/** The whole plan. */
export interface PlanReport {
  readonly nodes: readonly PlannedNode[];
  /** USD of spot and on-demand nodes; reserved nodes are paid for already. */
  readonly price: { readonly perHour: number; readonly perMonth: number };
  /** Lower bound in USD per hour on any plan for these pods. */
  readonly lowerBound: number;
  /** The share of the price by which the plan exceeds the lower bound. */
  readonly gap: number;
  readonly podsPlaced: number;
  readonly withoutPlace: readonly PodsWithoutPlace[];
  /** Assumptions of the plan, and manifests that were ignored. */
  readonly notes: readonly string[];
}
