/** Plans the drains of nodes whose machines go at a known time, from what the cluster says of their pods and budgets. */
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

/** How long a count of pods on all nodes that go is good enough. */
const COUNT_MS = 1000;
/** How soon a replica is ready that serves already. */
const SERVED_MS = 1000;

export class DrainPlans {
  readonly #options: DrainPlansOptions;
  #counted: { readonly at: number; readonly leaving: ReadonlyMap<string, number> } | undefined;

  constructor(options: DrainPlansOptions) {
    this.#options = options;
  }

  /** How the pods of a node leave until its machine goes. */
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

  /** When the grace period of a pod that leaves already must end so that it does not outlive the machine. */
  shortenedEnd(pod: Pod, deadline: EpochMs): number | undefined {
    const endsAt = parseTimestamp(pod.metadata.deletionTimestamp);
    const times = { now: this.#options.clock.now(), deadline, marginMs: DRAIN_MARGIN_MS };
    return endsAt === undefined ? undefined : shortenedEnd(times, endsAt);
  }

  /** What pods of its model take to load. A service that keeps replicas ready has others by then, and gains nothing by an early start. */
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

  /** The budgets that must let a pod go. */
  #budgetsOf(pod: Pod): PodDisruptionBudget[] {
    return this.#options.budgets.of(pod).filter((budget) => !mayGoAnyway(pod, budget));
  }

  /** How many pods of each budget are still to leave nodes whose machines go. */
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
