/** Plans the drains of nodes whose machines are taken away at a known time. */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../../apis/kubernetes/pod-disruption-budget.ts';
import type { DrainPlan } from '../../../engine/drain/drain-plan.ts';
import type { DrainBudget } from '../../../engine/drain/drain-question.ts';
import { planDrain, shortenedEnd } from '../../../engine/drain/plan-drain.ts';
import { type Clock, type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { BY_NODE, BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import type { ClusterState } from '../../../state/cluster-state.ts';
import type { DisruptionBudgets } from '../../../state/drain/disruption-budgets.ts';
import { budgetName, DRAIN_MARGIN_MS, drainBudget, drainPod, mayGoAnyway } from '../../../state/drain/drain-pod.ts';
import { isAwaited } from '../../../state/drain/drainable-pod.ts';
import { interruptionOf } from '../../interruption/interruption-of-claim.ts';

export interface DrainPlansOptions {
  readonly clock: Clock;
  readonly state: ClusterState;
  readonly budgets: DisruptionBudgets;
}

/** How long the count of pods on all interrupted nodes is reused. */
const COUNT_MS = 1000;
/** The loading time of a pod whose service has other replicas ready. */
const SERVED_MS = 1000;

export class DrainPlans {
  readonly #options: DrainPlansOptions;
  #counted: { readonly at: number; readonly leaving: ReadonlyMap<string, number> } | undefined;

  constructor(options: DrainPlansOptions) {
    this.#options = options;
  }

  /** How the pods of a node leave before the deadline of its machine. */
  planFor(node: string, deadline: EpochMs): DrainPlan {
    const { clock, state } = this.#options;
    const now = clock.now();
    const pods = state.informers.pods.byIndex(BY_NODE, node).filter((pod) => isAwaited(pod, now));
    const budgetsOf = new Map(pods.map((pod) => [pod, this.#budgetsOf(pod)]));
    const budgets = new Map<string, PodDisruptionBudget>();
    for (const of of budgetsOf.values()) for (const budget of of) budgets.set(budgetName(budget), budget);
    return planDrain({
      pods: pods.map((pod) => drainPod(pod, (budgetsOf.get(pod) ?? []).map(budgetName), this.#readyMs(pod))),
      budgets: budgets.size === 0 ? [] : this.#budgets(budgets, budgetsOf),
      now,
      deadline,
      marginMs: DRAIN_MARGIN_MS,
    });
  }

  /** When the grace period of a terminating pod must end, so that it does not outlive the machine. */
  shortenedEnd(pod: Pod, deadline: EpochMs): number | undefined {
    const endsAt = parseTimestamp(pod.metadata.deletionTimestamp);
    const times = { now: this.#options.clock.now(), deadline, marginMs: DRAIN_MARGIN_MS };
    return endsAt === undefined ? undefined : shortenedEnd(times, endsAt);
  }

  /** The loading time of the pod's model. A service that keeps replicas ready gains nothing by an early start. */
  #readyMs(pod: Pod): number | undefined {
    const { services, loading } = this.#options.state;
    return services.of(pod) === undefined ? loading.ofPod(pod)?.ms : SERVED_MS;
  }

  #budgets(
    budgets: ReadonlyMap<string, PodDisruptionBudget>,
    budgetsOf: ReadonlyMap<Pod, readonly PodDisruptionBudget[]>,
  ): DrainBudget[] {
    const everywhere = this.#leaving();
    return [...budgets].map(([name, budget]) => {
      const here = [...budgetsOf].filter(
        ([pod, of]) => of.includes(budget) && pod.metadata.deletionTimestamp === undefined,
      ).length;
      return drainBudget(budget, Math.max(0, (everywhere.get(name) ?? 0) - here));
    });
  }

  /** The PodDisruptionBudgets that must allow the eviction of a pod. */
  #budgetsOf(pod: Pod): PodDisruptionBudget[] {
    return this.#options.budgets.of(pod).filter((budget) => !mayGoAnyway(pod, budget));
  }

  /** Per PodDisruptionBudget, the pods that still have to leave interrupted nodes. */
  #leaving(): ReadonlyMap<string, number> {
    const { clock, state } = this.#options;
    if (this.#counted !== undefined && clock.elapsed() < this.#counted.at + COUNT_MS) return this.#counted.leaving;
    const { nodeClaims, nodes, pods } = state.informers;
    const leaving = new Map<string, number>();
    const going = nodeClaims.list().filter((claim) => interruptionOf(claim)?.deadline !== undefined);
    for (const claim of going) {
      for (const node of nodes.byIndex(BY_PROVIDER_ID, claim.status?.providerID ?? '')) {
        for (const pod of pods.byIndex(BY_NODE, node.metadata.name ?? '')) {
          if (pod.metadata.deletionTimestamp !== undefined || !isAwaited(pod, clock.now())) continue;
          for (const budget of this.#budgetsOf(pod)) {
            leaving.set(budgetName(budget), (leaving.get(budgetName(budget)) ?? 0) + 1);
          }
        }
      }
    }
    this.#counted = { at: clock.elapsed(), leaving };
    return leaving;
  }
}
