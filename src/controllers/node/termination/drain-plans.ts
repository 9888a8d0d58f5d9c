/** Plans the drains of nodes whose machines go at a known time, from what the cluster says of their pods and budgets. */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../../apis/kubernetes/pod-disruption-budget.ts';
import type { DrainPlan } from '../../../engine/drain/drain-plan.ts';
import type { DrainBudget, DrainPod } from '../../../engine/drain/drain-question.ts';
import { planDrain, shortenedEnd } from '../../../engine/drain/plan-drain.ts';
import { type Clock, type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { BY_NODE, BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import type { ClusterState } from '../../../state/cluster-state.ts';
import { doNotDisruptUntil } from '../../../state/do-not-disrupt.ts';
import { isReady } from '../../../state/is-ready.ts';
import { interruptionOf } from '../../interruption/interruption-of-claim.ts';
import { allowedBy, type DisruptionBudgets } from './disruption-budgets.ts';
import { drainGroup, graceSeconds, isAwaited } from './drainable-pod.ts';

export interface DrainPlansOptions {
  readonly clock: Clock;
  readonly state: ClusterState;
  readonly budgets: DisruptionBudgets;
}

/** Pods end so much before the machine goes: a kubelet needs a moment to end them, and to say so. */
const MARGIN_MS = 3000;
/** What a new pod is expected to take to be ready where the old one does not tell. */
const USUAL_READY_MS = 10_000;
/** One that took longer was slow for other reasons: its image, its node. */
const LONGEST_READY_MS = 60_000;
/** How long a count of pods on all nodes that go is good enough. */
const COUNT_MS = 1000;

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
    for (const of of budgetsOf.values()) for (const budget of of) budgets.set(nameOf(budget), budget);
    return planDrain({
      pods: pods.map((pod) => drainPod(pod, (budgetsOf.get(pod) ?? []).map(nameOf))),
      budgets: budgets.size === 0 ? [] : this.#budgets(budgets, budgetsOf),
      now,
      deadline,
      marginMs: MARGIN_MS,
    });
  }

  /** When the grace period of a pod that leaves already must end so that it does not outlive the machine. */
  shortenedEnd(pod: Pod, deadline: EpochMs): number | undefined {
    const endsAt = parseTimestamp(pod.metadata.deletionTimestamp);
    const times = { now: this.#options.clock.now(), deadline, marginMs: MARGIN_MS };
    return endsAt === undefined ? undefined : shortenedEnd(times, endsAt);
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
      const { desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {};
      const allowed = Math.max(allowedBy(budget), expectedPods - desiredHealthy);
      const elsewhere = Math.max(0, (everywhere.get(name) ?? 0) - here);
      return { name, allowed, away: allowed - allowedBy(budget), elsewhere };
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
            leaving.set(nameOf(budget), (leaving.get(nameOf(budget)) ?? 0) + 1);
          }
        }
      }
    }
    this.#counted = { at: clock.elapsed(), leaving };
    return leaving;
  }
}

function nameOf({ metadata }: PodDisruptionBudget): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** A pod that serves nobody is let go whatever the budget allows, where the budget says so. */
function mayGoAnyway(pod: Pod, { spec }: PodDisruptionBudget): boolean {
  return pod.status?.phase === 'Pending' || (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' && !isReady(pod));
}

function drainPod(pod: Pod, budgets: readonly string[]): DrainPod {
  const { namespace, name, uid = '', ownerReferences = [], deletionTimestamp } = pod.metadata;
  const heldUntil = doNotDisruptUntil(pod);
  const endsAt = parseTimestamp(deletionTimestamp);
  const owner = ownerReferences.find(({ controller }) => controller === true)?.kind;
  return {
    id: uid,
    name: `${namespace}/${name}`,
    graceMs: graceSeconds(pod) * 1000,
    group: drainGroup(pod),
    budgets,
    comesBack: owner === undefined ? 'never' : owner === 'StatefulSet' ? 'after-its-end' : 'at-once',
    readyMs: readyMs(pod),
    ...(heldUntil !== undefined && { heldUntil }),
    ...(endsAt !== undefined && { endsAt }),
  };
}

/** How long the pod itself took from its start until it was ready. */
function readyMs({ status }: Pod): number {
  const ready = status?.conditions?.find(({ type, status: value }) => type === 'Ready' && value === 'True');
  const readyAt = parseTimestamp(ready?.lastTransitionTime);
  const startedAt = parseTimestamp(status?.startTime);
  if (readyAt === undefined || startedAt === undefined) return USUAL_READY_MS;
  return Math.max(1000, Math.min(LONGEST_READY_MS, readyAt - startedAt));
}
