import type { Metrics } from '../platform/metrics.ts';

const OUTCOMES = ['success', 'requeue_after', 'error'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Receives the outcome of each reconcile. */
export interface ControllerObserver {
  finished(outcome: Outcome, seconds: number): void;
}

/** Metrics under the names of controller-runtime, for existing dashboards. One series per controller and outcome. */
export function controllerMetrics(metrics: Metrics | undefined, controller: string): ControllerObserver {
  if (metrics === undefined) return { finished: () => {} };
  const total = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles that ended, per controller and result',
    labels: ['controller', 'result'],
    initial: OUTCOMES.map((result) => ({ controller, result })),
  });
  const errors = metrics.counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles that failed, per controller',
    labels: ['controller'],
    initial: [{ controller }],
  });
  const time = metrics.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'How long a reconcile took, per controller',
    labels: ['controller'],
  });
  return {
    finished: (result, seconds) => {
      total.add({ controller, result });
      if (result === 'error') errors.add({ controller });
      time.observe({ controller }, seconds);
    },
  };
}
