/**
 * Evicts pods through the eviction API. A refused pod is tried again when its PodDisruptionBudget opens, or after a wait. A pod is deleted
 * when the deadline of its node leaves only its grace period. If the machine is taken away, the grace period is shortened to the time left,
 * but no pod is deleted against its budget.
 */
import { keyOf, keyText } from '../../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../../apis/kubernetes/pod-disruption-budget.ts';
import type { ReconcileContext, ReconcileResult } from '../../../kube/controller.ts';
import { KubeError } from '../../../kube/kube-error.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import { hasCode } from '../../../platform/errors.ts';
import { BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import { decideEviction, deletedAt } from '../../../state/drain/decide-eviction.ts';
import type { DisruptionBudgets } from '../../../state/drain/disruption-budgets.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { InformedController } from '../../informed-controller.ts';
import { requestTimeoutMs, retryWithinMs } from '../../interruption/deadline-pacing.ts';
import { writtenDeadline } from '../../nodeclaim/termination/termination-deadline.ts';
import { disrupted, evicted, podNotEvicted } from '../events.ts';
import { NodeMetrics } from '../metrics.ts';

export interface EvictionQueueOptions extends ControllersOptions {
  readonly budgets: DisruptionBudgets;
}

interface Item {
  readonly key: string;
  /** When the pod must have ended, because its machine is taken away. */
  endBy?: number | undefined;
  refusals: number;
  /** The latest refusal, as the API server said it. */
  refusal?: string;
  /** Since when the eviction is refused, by the clock's `elapsed`. */
  refusedSince?: number;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;
/** Refusals by a PodDisruptionBudget or by a webhook, which may answer anything. A pod of several budgets gets a server error. */
const REFUSALS = [
  'KUBE_DISRUPTION_BUDGET',
  'KUBE_FORBIDDEN',
  'KUBE_BAD_REQUEST',
  'KUBE_INVALID',
  'KUBE_SERVER_ERROR',
] as const;
/** A refused eviction is normal for this long. After that it is reported as an event. */
const REPORTED_AFTER_MS = 5000;
/** After a 404 or 409, the cache shows by then whether the pod still exists. */
const LOOK_AGAIN_MS = 1000;

export class EvictionQueue {
  readonly name = 'eviction-queue';
  readonly #options: EvictionQueueOptions;
  readonly #metrics: NodeMetrics;
  readonly #controller: InformedController;
  /** Pods to evict that are not terminating yet, by UID. */
  readonly #items = new Map<string, Item>();

  constructor(options: EvictionQueueOptions) {
    this.#options = options;
    this.#metrics = new NodeMetrics(options.metrics);
    const { pods } = options.state.informers;
    const leaves = ({ metadata }: Pod): void => void this.#items.delete(metadata.uid ?? '');
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: 32,
      // Slow webhooks may occupy all other workers.
      urgent: { concurrency: 16, is: (key) => this.#endBy(key) !== undefined },
      backOff: { baseDelayMs: FIRST_WAIT_MS, maxDelayMs: LONGEST_WAIT_MS },
      retryWithinMs: (key) => {
        const endBy = this.#endBy(key);
        return endBy === undefined ? undefined : retryWithinMs(endBy, options.clock.now());
      },
      listen: () => [
        pods.addHandler({
          updated: (pod) => pod.metadata.deletionTimestamp !== undefined && leaves(pod),
          deleted: leaves,
        }),
        options.budgets.onOpened((budget, pods) => this.#opened(budget, pods)),
      ],
      reconcile: (key, context) => this.#reconcile(key, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  /**
   * Adds a pod to evict. `endBy` is set if its machine is taken away. A refused pod keeps waiting for its next try, unless its deadline has
   * come or moved closer.
   */
  add(pod: Pod, endBy?: number): void {
    const { clock } = this.#options;
    const uid = pod.metadata.uid ?? '';
    const known = this.#items.get(uid);
    const overdue = decideEviction(pod, clock.now(), this.#deadline(pod)).kind === 'delete';
    // A new or closer deadline is worth another try at once.
    const hurried = endBy !== undefined && endBy + 1000 < (known?.endBy ?? Number.POSITIVE_INFINITY);
    if (known !== undefined) known.endBy = endBy;
    if (known !== undefined && !overdue && !hurried) return;
    const item = known ?? { key: `${keyText(keyOf(pod))}/${uid}`, endBy, refusals: 0 };
    this.#items.set(uid, item);
    this.#controller.queue.add(item.key);
  }

  /** Why the eviction of the pod was refused; undefined if it was not. */
  refusal(pod: Pod): string | undefined {
    return this.#items.get(pod.metadata.uid ?? '')?.refusal;
  }

  async #reconcile(key: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { clock, state } = this.#options;
    const [namespace = '', name = '', uid = ''] = key.split('/');
    const item = this.#items.get(uid);
    const pod = state.informers.pods.get({ namespace, name });
    if (item === undefined) return undefined;
    if (pod?.metadata.uid !== uid) {
      this.#items.delete(uid);
      return undefined;
    }
    const deadline = this.#deadline(pod);
    const eviction = decideEviction(pod, clock.now(), deadline, item.endBy);
    switch (eviction.kind) {
      case 'evict':
        return this.#evict(pod, item, deadline, eviction.graceSeconds, signal);
      case 'delete':
        await this.#delete(pod, eviction.graceSeconds, deadline ?? clock.now(), signal);
        return undefined;
      default:
        // It is terminating, or may not be disrupted by now: the drain adds it again if needed.
        this.#items.delete(uid);
        return undefined;
    }
  }

  async #evict(
    pod: Pod,
    item: Item,
    deadline: EpochMs | undefined,
    gracePeriodSeconds: number | undefined,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const { client, clock, recorder } = this.#options;
    try {
      const timeoutMs = requestTimeoutMs(item.endBy ?? Number.POSITIVE_INFINITY, clock.now());
      const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
      const preconditions = { uid: pod.metadata.uid ?? '' };
      await client.evict(keyOf(pod), { signal, preconditions, timeoutMs, ...grace });
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) {
        this.#metrics.evictionAnswered(hasCode(error, 'KUBE_CONFLICT') ? 409 : 404);
        // A conflict may be another write at the same time: if the pod still exists, the eviction has not happened.
        return { requeueAfterMs: LOOK_AGAIN_MS };
      }
      if (!(error instanceof KubeError) || !hasCode(error, ...REFUSALS)) throw error;
      this.#metrics.evictionAnswered(error.status.code ?? 500);
      item.refusal = refusalOf(error);
      item.refusedSince ??= clock.elapsed();
      if (clock.elapsed() - item.refusedSince >= REPORTED_AFTER_MS) this.#tellRefused(pod, item.refusal);
      return { requeueAfterMs: this.#waitMs(item, deletedAt(pod, deadline)) };
    }
    this.#metrics.evictionAnswered(200);
    this.#metrics.podDrained('evicted');
    recorder.record(evicted(pod));
    return undefined;
  }

  #tellRefused(pod: Pod, why: string): void {
    const { recorder, state } = this.#options;
    const node = state.informers.nodes.get(pod.spec.nodeName ?? '');
    if (node !== undefined) recorder.record(podNotEvicted(node, pod, why));
  }

  #endBy(key: string): number | undefined {
    return this.#items.get(key.slice(key.lastIndexOf('/') + 1))?.endBy;
  }

  /** How long a refused pod waits if its budget does not open before. */
  #waitMs(item: Item, deletedAt: number): number {
    const now = this.#options.clock.now();
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** item.refusals++);
    const hurry = retryWithinMs(item.endBy ?? Number.POSITIVE_INFINITY, now);
    return Math.max(0, Math.min(waitMs, hurry, deletedAt - now));
  }

  /** Tries as many refused pods as the budget allows now, those with the least time first. */
  #opened({ metadata }: PodDisruptionBudget, pods: number): void {
    const { budgets, state } = this.#options;
    const waiting = [...this.#items.values()].filter(({ key, refusal }) => {
      if (refusal === undefined || !key.startsWith(`${metadata.namespace}/`)) return false;
      const pod = state.informers.pods.get(key.slice(0, key.lastIndexOf('/')));
      if (pod === undefined) return false;
      return !Number.isFinite(pods) || budgets.of(pod).some((other) => other.metadata.name === metadata.name);
    });
    const byTime = waiting.sort((a, b) => (a.endBy ?? Number.MAX_VALUE) - (b.endBy ?? Number.MAX_VALUE));
    for (const { key } of byTime.slice(0, pods)) this.#controller.queue.add(key);
  }

  async #delete(pod: Pod, gracePeriodSeconds: number, deadline: EpochMs, signal: AbortSignal): Promise<void> {
    const { client, recorder } = this.#options;
    const { uid = '' } = pod.metadata;
    try {
      await client.delete(PODS, keyOf(pod), { signal, gracePeriodSeconds, preconditions: { uid } });
      this.#metrics.podDrained('deadline');
      recorder.record(disrupted(pod, deadline));
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) throw error;
      this.#items.delete(uid);
    }
  }

  /** The current deadline of the pod's node. */
  #deadline({ spec }: Pod): EpochMs | undefined {
    const { nodes, nodeClaims } = this.#options.state.informers;
    const providerID = nodes.get(spec.nodeName ?? '')?.spec?.providerID ?? '';
    const deadlines = nodeClaims.byIndex(BY_PROVIDER_ID, providerID).map(writtenDeadline);
    return deadlines.find((deadline) => deadline !== undefined);
  }
}

/** The API server's message, with the budget's name if it gives one. */
function refusalOf(error: Error): string {
  const causes = error instanceof KubeError ? (error.status.details?.causes ?? []) : [];
  return causes.find(({ message }) => message)?.message ?? error.message;
}
