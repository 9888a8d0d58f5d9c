/**
 * Drains the agent's own node when no controller does: only by the eviction API, so that PodDisruptionBudgets hold, with the
 * order and grace periods of the controller's drain planner.
 */
import type { Node } from '../apis/kubernetes/node.ts';
import { NODES } from '../apis/kubernetes/node.ts';
import { keyOf } from '../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../apis/kubernetes/pod.ts';
import {
  evictionsAllowed,
  POD_DISRUPTION_BUDGETS,
  type PodDisruptionBudget,
} from '../apis/kubernetes/pod-disruption-budget.ts';
import type { DrainPlan } from '../engine/drain/drain-plan.ts';
import { planDrain, shortenedEnd } from '../engine/drain/plan-drain.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventRecorder } from '../kube/event-recorder.ts';
import { Informer } from '../kube/informer.ts';
import { type Clock, type EpochMs, parseTimestamp } from '../platform/clock.ts';
import { asError, hasCode } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import type { Random } from '../platform/random.ts';
import { decideDrain } from '../state/drain/decide-drain.ts';
import { decideEviction } from '../state/drain/decide-eviction.ts';
import { DisruptionBudgets } from '../state/drain/disruption-budgets.ts';
import { budgetName, DRAIN_MARGIN_MS, drainBudget, drainPod, mayGoAnyway } from '../state/drain/drain-pod.ts';
import { isAwaited } from '../state/drain/drainable-pod.ts';
import { cannotLeaveInTime, drainedAlone, evictedByAgent, evictionRefused } from './events.ts';

export interface NodeDrainOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
}

/** How often pods are checked for eviction. */
const LOOK_MS = 250;
/** A refused eviction is retried after this long, or at the next check after its budget changed. */
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 2000;
/**
 * The time limit of an eviction. A request that is cut off after the API server has counted it, and before the pod is deleted,
 * blocks its budget for two minutes.
 */
const ANSWER_MS = 15_000;

interface Refusal {
  readonly nextAt: number;
  readonly times: number;
}

export class NodeDrain {
  readonly #options: NodeDrainOptions;
  readonly #refused = new Map<string, Refusal>();
  readonly #asked = new Set<string>();

  constructor(options: NodeDrainOptions) {
    this.#options = options;
  }

  /** Drains the node until all pods have left, the deadline is well past, or the signal aborts. */
  async run(node: Node, deadline: EpochMs, signal: AbortSignal): Promise<void> {
    const { client, clock, random, logger, recorder } = this.#options;
    const name = node.metadata.name ?? '';
    const stop = new AbortController();
    const ended = AbortSignal.any([signal, stop.signal]);
    const common = { client, clock, random, logger };
    const pods = new Informer<Pod>({
      ...common,
      kind: PODS,
      selection: { fieldSelector: `spec.nodeName=${name}` },
    });
    const budgets = new Informer<PodDisruptionBudget>({ ...common, kind: POD_DISRUPTION_BUDGETS });
    const known = new DisruptionBudgets(budgets);
    const watching = [pods.run(ended), budgets.run(ended)];
    try {
      await this.#cordon(node, signal);
      await Promise.all([pods.synced(signal), budgets.synced(signal)]);
      while (!signal.aborted) {
        const awaited = pods.list().filter((pod) => isAwaited(pod, clock.now()));
        if (awaited.length === 0) {
          recorder.record(drainedAlone(node));
          return;
        }
        await this.#look(node, awaited, known, deadline, signal);
        await clock.sleep(LOOK_MS, signal);
      }
    } finally {
      stop.abort();
      await Promise.all(watching);
    }
  }

  async #cordon(node: Node, signal: AbortSignal): Promise<void> {
    const { client, logger } = this.#options;
    if (node.spec?.unschedulable === true) return;
    const body = { spec: { unschedulable: true } };
    await client.patch(NODES, keyOf(node), { type: 'merge', body }, { signal, timeoutMs: ANSWER_MS }).catch((error) => {
      if (!signal.aborted) logger.warn('the node could not be cordoned', { error: asError(error) });
    });
  }

  async #look(
    node: Node,
    pods: readonly Pod[],
    budgets: DisruptionBudgets,
    deadline: EpochMs,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, recorder } = this.#options;
    const now = clock.now();
    const plan = planFor(pods, budgets, now, deadline);
    for (const { pod, reason } of plan.late) {
      const late = pods.find(({ metadata }) => metadata.uid === pod.id);
      for (const object of late === undefined ? [node] : [node, late])
        recorder.record(cannotLeaveInTime(object, pod.name, deadline, reason));
    }
    const end = (pod: Pod): number | undefined => {
      const endsAt = parseTimestamp(pod.metadata.deletionTimestamp);
      return endsAt === undefined ? undefined : shortenedEnd({ now, deadline, marginMs: DRAIN_MARGIN_MS }, endsAt);
    };
    const { due, endBy } = decideDrain(pods, now, undefined, { plan, shortenedEnd: end });
    const ready = due.filter((pod) => (this.#refused.get(pod.metadata.uid ?? '')?.nextAt ?? 0) <= clock.elapsed());
    const asked = withinBudgets(ready, budgets);
    await Promise.all(asked.map((pod) => this.#evict(node, pod, endBy.get(pod), signal)));
  }

  async #evict(node: Node, pod: Pod, endBy: number | undefined, signal: AbortSignal): Promise<void> {
    const { client, clock, logger, recorder } = this.#options;
    const uid = pod.metadata.uid ?? '';
    const eviction = decideEviction(pod, clock.now(), undefined, endBy);
    if (eviction.kind !== 'evict') return;
    const grace = eviction.graceSeconds === undefined ? {} : { gracePeriodSeconds: eviction.graceSeconds };
    try {
      await client.evict(keyOf(pod), { signal, preconditions: { uid }, timeoutMs: ANSWER_MS, ...grace });
      this.#refused.delete(uid);
      if (!this.#asked.has(uid)) recorder.record(evictedByAgent(pod));
      this.#asked.add(uid);
    } catch (error) {
      if (signal.aborted || hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) return;
      const times = (this.#refused.get(uid)?.times ?? 0) + 1;
      const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (times - 1));
      this.#refused.set(uid, { nextAt: clock.elapsed() + waitMs, times });
      logger.debug('a pod could not be evicted', { Pod: keyOf(pod), error: asError(error) });
      if (times === 3) recorder.record(evictionRefused(node, pod, asError(error).message));
    }
  }
}

/** As many evictions as the budgets allow now: more would only slow the API server down. */
function withinBudgets(pods: readonly Pod[], budgets: DisruptionBudgets): readonly Pod[] {
  const left = new Map<string, number>();
  return pods.filter((pod) => {
    if (pod.metadata.deletionTimestamp !== undefined) return true;
    const own = budgets.of(pod).filter((budget) => !mayGoAnyway(pod, budget));
    const isOpen = own.every((budget) => (left.get(budgetName(budget)) ?? evictionsAllowed(budget)) > 0);
    if (isOpen)
      for (const budget of own)
        left.set(budgetName(budget), (left.get(budgetName(budget)) ?? evictionsAllowed(budget)) - 1);
    return isOpen;
  });
}

function planFor(pods: readonly Pod[], budgets: DisruptionBudgets, now: EpochMs, deadline: EpochMs): DrainPlan {
  const used = new Map<string, PodDisruptionBudget>();
  const drainPods = pods.map((pod) => {
    const own = budgets.of(pod).filter((budget) => !mayGoAnyway(pod, budget));
    for (const budget of own) used.set(budgetName(budget), budget);
    return drainPod(pod, own.map(budgetName));
  });
  // Disruptions of other nodes show in the counts of the budgets.
  const drainBudgets = [...used.values()].map((budget) => drainBudget(budget, 0));
  return planDrain({ pods: drainPods, budgets: drainBudgets, now, deadline, marginMs: DRAIN_MARGIN_MS });
}
