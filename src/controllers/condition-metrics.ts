/** Metrics of status conditions and their transitions, under the names that Karpenter's dashboards know. */
import type { Conditioned } from '../apis/karpenter/conditions.ts';
import type { KubeObject } from '../apis/kubernetes/object.ts';
import type { Informer } from '../kube/informer.ts';
import { type Clock, parseTimestamp } from '../platform/clock.ts';
import type { Metrics } from '../platform/metrics.ts';

type Observed = KubeObject & Conditioned;

const TERMINATION_BUCKETS = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

export class ConditionMetrics {
  readonly #clock: Clock;
  readonly #metrics: Metrics;
  readonly #kind: string;
  readonly #transitions;
  readonly #transitionSeconds;
  readonly #terminationSeconds;

  /** `kind`: in lower case, part of the metric names. */
  constructor({ metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock }, kind: string) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.#kind = kind;
    this.#transitions = metrics.counter({
      name: `operator_${kind}_status_condition_transitions_total`,
      help: `How often a condition of a ${kind} came to a status, per type, status and reason`,
      labels: ['type', 'status', 'reason'],
    });
    this.#transitionSeconds = metrics.histogram({
      name: `operator_${kind}_status_condition_transition_seconds`,
      help: `How long a condition of a ${kind} had a status before it changed, in seconds, per type and both statuses`,
      labels: ['type', 'status', 'to_status'],
    });
    this.#terminationSeconds = metrics.histogram({
      name: `operator_${kind}_termination_duration_seconds`,
      help: `From the deletion of a ${kind} until it was gone, in seconds`,
      buckets: TERMINATION_BUCKETS,
    });
  }

  /** Observes the objects of an informer that `counts` selects. Call the result to stop. */
  follow<T extends Observed>(informer: Informer<T>, counts: (object: T) => boolean = () => true): () => void {
    this.#countStates(() => informer.list().filter(counts));
    return informer.addHandler({
      updated: (object, old) => {
        if (counts(object)) this.#compare(old, object);
      },
      deleted: (object) => {
        if (!counts(object)) return;
        const deletedAt = parseTimestamp(object.metadata.deletionTimestamp);
        if (deletedAt !== undefined) this.#terminationSeconds.observe({}, (this.#clock.now() - deletedAt) / 1000);
      },
    });
  }

  /** Gauges of the present conditions and their age. */
  #countStates<T extends Observed>(list: () => readonly T[]): void {
    const since = (time: string | undefined): number =>
      (this.#clock.now() - (parseTimestamp(time) ?? this.#clock.now())) / 1000;
    const kind = this.#kind;
    const labels = ['namespace', 'name', 'type', 'status', 'reason'] as const;
    this.#metrics.counted(
      {
        name: `operator_${kind}_status_condition_count`,
        help: `1 for each condition that a ${kind} has, per object, type, status and reason`,
        labels,
      },
      function* () {
        for (const object of list()) for (const series of seriesOf(object)) yield [series, 1];
      },
    );
    this.#metrics.counted(
      {
        name: `operator_${kind}_status_condition_current_status_seconds`,
        help: `How long a condition of a ${kind} has had its status, in seconds, per object, type, status and reason`,
        labels,
      },
      function* () {
        for (const object of list()) {
          const conditions = object.status?.conditions ?? [];
          for (const [index, series] of seriesOf(object).entries())
            yield [series, since(conditions[index]?.lastTransitionTime)];
        }
      },
    );
    this.#metrics.counted(
      {
        name: `operator_${kind}_termination_current_time_seconds`,
        help: `Time since the deletion of a ${kind} that still exists, in seconds, per object`,
        labels: ['namespace', 'name'],
      },
      () =>
        list().flatMap(({ metadata }) => {
          const { namespace = '', name = '', deletionTimestamp } = metadata;
          return deletionTimestamp === undefined ? [] : [[{ namespace, name }, since(deletionTimestamp)] as const];
        }),
    );
  }

  #compare(old: Observed, object: Observed): void {
    for (const { type, status, reason = '', lastTransitionTime } of object.status?.conditions ?? []) {
      const before = old.status?.conditions?.find((condition) => condition.type === type);
      if (before === undefined || before.status === status) continue;
      this.#transitions.add({ type, status, reason });
      const from = parseTimestamp(before.lastTransitionTime);
      const to = parseTimestamp(lastTransitionTime);
      if (from !== undefined && to !== undefined)
        this.#transitionSeconds.observe({ type, status: before.status, to_status: status }, (to - from) / 1000);
    }
  }
}

function seriesOf({ metadata, status }: Observed) {
  const { namespace = '', name = '' } = metadata;
  return (status?.conditions ?? []).map((condition) => ({
    namespace,
    name,
    type: condition.type,
    status: condition.status,
    reason: condition.reason ?? '',
  }));
}
