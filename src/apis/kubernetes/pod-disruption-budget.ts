import { type Condition, type KubeObject, resource } from './object.ts';
import type { LabelSelector } from './pod.ts';

export interface PodDisruptionBudget extends KubeObject {
  readonly spec: {
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly selector?: LabelSelector;
    readonly unhealthyPodEvictionPolicy?: 'IfHealthyBudget' | 'AlwaysAllow';
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly expectedPods?: number;
    readonly disruptedPods?: Readonly<Record<string, string>>;
    readonly conditions?: readonly Condition[];
  };
}

/** Evictions that the budget allows now. None while its status is of an older generation: the API server refuses them until it is updated. */
export function evictionsAllowed({ metadata, status }: PodDisruptionBudget): number {
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return 0;
  return Math.max(0, status?.disruptionsAllowed ?? 0);
}

export const POD_DISRUPTION_BUDGETS = resource<PodDisruptionBudget>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
  'namespaced',
);
