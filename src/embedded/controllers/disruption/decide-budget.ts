/** Calculates how many disruptions a PodDisruptionBudget allows now. Pure. */
import type { Condition } from '../../../apis/kubernetes/object.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../../apis/kubernetes/pod-disruption-budget.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { scaledValue } from '../int-or-percent.ts';
import { isReady, isTerminating } from '../pod-facts.ts';
import { compact } from '../status-change.ts';

export interface BudgetPlan {
  readonly status: Readonly<Record<string, unknown>>;
  /** When to count again, because an evicted pod may not have been deleted by then. */
  readonly againAfterMs: number | undefined;
}

/** An evicted pod that is not deleted after this long is assumed to stay. */
const DELETION_TIMEOUT_MS = 120_000;

/** `expectedScale` is the total number of replicas that the pods' controllers want. */
export function decideBudget(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  expectedScale: number,
  now: number,
): BudgetPlan {
  const { minAvailable, maxUnavailable } = budget.spec;
  const byCount = maxUnavailable === undefined && (typeof minAvailable === 'number' || minAvailable === undefined);
  const expectedPods = byCount ? pods.length : expectedScale;
  const desiredHealthy =
    maxUnavailable === undefined
      ? scaledValue(minAvailable ?? 0, expectedPods, 'up')
      : Math.max(0, expectedPods - scaledValue(maxUnavailable, expectedPods, 'up'));
  const { disruptedPods, nextTimeout } = stillExpectedToGo(budget, pods, now);
  const healthy = pods.filter(
    (pod) => !isTerminating(pod) && !((pod.metadata.name ?? '') in disruptedPods) && isReady(pod),
  );
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, healthy.length - desiredHealthy);
  return {
    status: compact({
      currentHealthy: healthy.length,
      desiredHealthy,
      expectedPods,
      disruptionsAllowed,
      disruptedPods: Object.keys(disruptedPods).length === 0 ? undefined : disruptedPods,
      observedGeneration: budget.metadata.generation,
      conditions: conditions(budget, disruptionsAllowed, now),
    }),
    againAfterMs: nextTimeout === undefined ? undefined : Math.max(0, nextTimeout - now),
  };
}

function stillExpectedToGo(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  now: number,
): { disruptedPods: Record<string, string>; nextTimeout: number | undefined } {
  const disruptedPods: Record<string, string> = {};
  let nextTimeout: number | undefined;
  for (const pod of pods) {
    const name = pod.metadata.name ?? '';
    const time = budget.status?.disruptedPods?.[name];
    if (time === undefined || isTerminating(pod)) continue;
    const timeout = (parseTimestamp(time) ?? 0) + DELETION_TIMEOUT_MS;
    if (timeout < now) continue;
    disruptedPods[name] = time;
    nextTimeout = Math.min(nextTimeout ?? Number.POSITIVE_INFINITY, timeout + 1000);
  }
  return { disruptedPods, nextTimeout };
}

function conditions(budget: PodDisruptionBudget, disruptionsAllowed: number, now: number): readonly Condition[] {
  const status = disruptionsAllowed > 0 ? 'True' : 'False';
  const reason = disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods';
  const known = budget.status?.conditions?.find(({ type }) => type === 'DisruptionAllowed');
  const others = (budget.status?.conditions ?? []).filter(({ type }) => type !== 'DisruptionAllowed');
  const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? '') : toTimestamp(now as EpochMs);
  const { generation } = budget.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  return [...others, { type: 'DisruptionAllowed', status, reason, message: '', lastTransitionTime, ...observed }];
}
