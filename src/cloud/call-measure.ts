/** Counts and times a controller's calls to clouds, as Karpenter's metrics do. */
import type { Clock } from '../platform/clock.ts';
import { type ErrorCode, SpindriftError } from '../platform/errors.ts';
import type { CounterMetric, HistogramMetric, Metrics } from '../platform/metrics.ts';

export interface CallMeasureOptions {
  /** The name of the calling controller. */
  readonly controller: string;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** The called method and cloud, and the pool if it is known. */
export interface CloudCall {
  readonly method: 'GetInstanceTypes' | 'Create' | 'Get' | 'List' | 'Delete' | 'IsDrifted' | 'Reboot';
  readonly cloud: string;
  readonly pool?: string;
}

/** Makes a call, and measures it. */
export type CallMeasure = <Answer>(what: CloudCall, call: () => Promise<Answer>) => Promise<Answer>;

/** Makes the call and nothing else. */
export const UNMEASURED: CallMeasure = (_, call) => call();

/** Karpenter's names of errors, which its dashboards query. */
const ERROR_NAMES: Partial<Record<ErrorCode, string>> = {
  CLOUD_INSTANCE_NOT_FOUND: 'NodeClaimNotFoundError',
  CLOUD_INSUFFICIENT_CAPACITY: 'InsufficientCapacityError',
  CLOUD_NODE_CLASS_NOT_READY: 'NodeClassNotReadyError',
};

/** Measures the calls of a controller. */
export function callMeasure({ controller, clock, metrics }: CallMeasureOptions): CallMeasure {
  const durations: HistogramMetric<'controller' | 'method' | 'provider'> = metrics.histogram({
    name: 'karpenter_cloudprovider_duration_seconds',
    help: 'How long calls of a cloud provider took, in seconds; a series for each controller, method and provider',
    labels: ['controller', 'method', 'provider'],
  });
  const errors: CounterMetric<'controller' | 'method' | 'provider' | 'error' | 'nodepool'> = metrics.counter({
    name: 'karpenter_cloudprovider_errors_total',
    help: 'Calls of a cloud provider that failed; a series for each controller, method, provider, error and pool',
    labels: ['controller', 'method', 'provider', 'error', 'nodepool'],
  });
  return async ({ method, cloud: provider, pool: nodepool = '' }, call) => {
    const labels = { controller, method, provider };
    const startedAt = clock.elapsed();
    try {
      return await call();
    } catch (error) {
      errors.add({ ...labels, error: errorName(error), nodepool });
      throw error;
    } finally {
      durations.observe(labels, (clock.elapsed() - startedAt) / 1000);
    }
  };
}

function errorName(error: unknown): string {
  if (!(error instanceof SpindriftError)) return 'unknown';
  const code: ErrorCode = error.code;
  return ERROR_NAMES[code] ?? code;
}
