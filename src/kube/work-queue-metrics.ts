import type { Metrics } from '../platform/metrics.ts';

/** Receives the events of a queue. */
export interface QueueObserver {
  depth(keys: number): void;
  added(): void;
  started(waitedSeconds: number): void;
  finished(workedSeconds: number): void;
  retried(): void;
}

/** Metrics under the names of client-go, for existing dashboards. One series per queue. */
export function queueMetrics(metrics: Metrics | undefined, name: string): QueueObserver {
  if (metrics === undefined) {
    return { depth: () => {}, added: () => {}, started: () => {}, finished: () => {}, retried: () => {} };
  }
  const labels = ['name'] as const;
  const series = { name };
  const initial = [series];
  const depth = metrics.gauge({
    name: 'workqueue_depth',
    help: 'Keys that are ready to be worked on, per queue',
    labels,
  });
  const adds = metrics.counter({
    name: 'workqueue_adds_total',
    help: 'Keys that became ready, per queue',
    labels,
    initial,
  });
  const retries = metrics.counter({
    name: 'workqueue_retries_total',
    help: 'Keys added again after a failure, per queue',
    labels,
    initial,
  });
  const waited = metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long a ready key waited for a worker, per queue',
    labels,
  });
  const worked = metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long the work on a key took, per queue',
    labels,
  });
  return {
    depth: (keys) => depth.set(series, keys),
    added: () => adds.add(series),
    started: (seconds) => waited.observe(series, seconds),
    finished: (seconds) => worked.observe(series, seconds),
    retried: () => retries.add(series),
  };
}
