/** A provider that counts and times what one controller asks of it, under the names that dashboards know. */
import { LABEL_NODE_POOL } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { RankedOffering } from '../engine/solution.ts';
import type { Clock, EpochMs } from '../platform/clock.ts';
import { type ErrorCode, SpindriftError } from '../platform/errors.ts';
import type { CounterMetric, HistogramMetric, Metrics } from '../platform/metrics.ts';
import type { CloudProvider, InstanceRef, NodeClassReference } from './provider.ts';

export interface MeasuredProviderOptions {
  readonly provider: CloudProvider;
  /** Who asks: a controller's name. */
  readonly controller: string;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** Names of errors that Karpenter has; its dashboards look for them. */
const ERROR_NAMES: Partial<Record<ErrorCode, string>> = {
  CLOUD_INSTANCE_NOT_FOUND: 'NodeClaimNotFoundError',
  CLOUD_INSUFFICIENT_CAPACITY: 'InsufficientCapacityError',
  CLOUD_NODE_CLASS_NOT_READY: 'NodeClassNotReadyError',
};

/** The same provider, measured. */
export function measuredProvider(options: MeasuredProviderOptions): CloudProvider {
  const { provider } = options;
  const measure = measurement(options);
  const poolOf = (claim: NodeClaim): string => claim.metadata.labels?.[LABEL_NODE_POOL] ?? '';
  const { reboot } = provider;
  return {
    name: provider.name,
    nodeClassKind: provider.nodeClassKind,
    labels: provider.labels,
    get settleMs() {
      return provider.settleMs;
    },
    instanceTypes: (nodeClass: NodeClassReference, signal: AbortSignal, pool?: string) =>
      measure('GetInstanceTypes', '', () => provider.instanceTypes(nodeClass, signal, pool)),
    create: (claim: NodeClaim, offerings: readonly RankedOffering[], signal: AbortSignal) =>
      measure('Create', poolOf(claim), () => provider.create(claim, offerings, signal)),
    get: (providerID: string, signal: AbortSignal) => measure('Get', '', () => provider.get(providerID, signal)),
    list: (signal: AbortSignal) => measure('List', '', () => provider.list(signal)),
    delete: (instance: InstanceRef, signal: AbortSignal) =>
      measure('Delete', '', () => provider.delete(instance, signal)),
    driftReason: (claim: NodeClaim, signal: AbortSignal) =>
      measure('IsDrifted', poolOf(claim), () => provider.driftReason(claim, signal)),
    repairPolicies: () => provider.repairPolicies(),
    ...(reboot && {
      reboot: (providerID: string, operation: string, signal: AbortSignal) =>
        measure('Reboot', '', () => reboot.call(provider, providerID, operation, signal)),
    }),
    notices: (signal: AbortSignal) => provider.notices(signal),
    takenBack: (claim: NodeClaim, since?: EpochMs) => provider.takenBack(claim, since),
    readiness: (nodeClass: NodeClassReference, signal: AbortSignal) => provider.readiness(nodeClass, signal),
  };
}

type Measure = <Answer>(method: string, nodepool: string, call: () => Promise<Answer>) => Promise<Answer>;

function measurement({ provider, controller, clock, metrics }: MeasuredProviderOptions): Measure {
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
  return async (method, nodepool, call) => {
    const labels = { controller, method, provider: provider.name };
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
