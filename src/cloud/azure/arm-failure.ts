/** What a refusal of Azure means; quotas, locked resources and much else share one code and are told apart by their text. */
import { SpindriftError } from '../../platform/errors.ts';
import { ArmRefusal } from './arm-api.ts';

export type ArmFailureKind = 'capacity' | 'quota' | 'throttled' | 'denied' | 'not-found' | 'conflict' | 'trouble';

const CAPACITY =
  /^(SkuNotAvailable|ZonalAllocationFailed|AllocationFailed|OverconstrainedZonalAllocationRequest|OverconstrainedAllocationRequest|VMSizeNotSupported|SubnetIsFull|InsufficientSubnetSize)$/;
const QUOTA = /LowPriorityCores|Family Cores quota|Total Regional Cores quota|exceeding approved/i;

/** Sorts a refusal by code and text. */
export function armFailureKind({ status, code, message }: ArmRefusal): ArmFailureKind {
  if (status === 429 || /TooManyRequests|Throttled/.test(code)) return 'throttled';
  if (CAPACITY.test(code) || /is not supported for subscription/.test(message)) return 'capacity';
  if ((code === 'OperationNotAllowed' && QUOTA.test(message)) || code === 'QuotaExceeded') return 'quota';
  if (code === 'PropertyChangeNotAllowed' || code === 'NicReservedForAnotherVm' || status === 409) return 'conflict';
  if (status === 404) return 'not-found';
  if (status === 401 || status === 403) return 'denied';
  return 'trouble';
}

/** The error that controllers know for a refusal; other errors stay as they are. */
export function armFailure(operation: string, claim: string, error: unknown): unknown {
  if (!(error instanceof ArmRefusal)) return error;
  const problem = error.message;
  const cause = { cause: error };
  switch (armFailureKind(error)) {
    case 'capacity':
      return new SpindriftError('CLOUD_INSUFFICIENT_CAPACITY', { claim, offerings: problem }, cause);
    case 'quota':
      return new SpindriftError('CLOUD_QUOTA_EXCEEDED', { claim, problem }, cause);
    case 'throttled':
      return new SpindriftError('CLOUD_THROTTLED', { operation }, cause);
    case 'denied':
      return new SpindriftError('CLOUD_DENIED', { operation, problem }, cause);
    case 'not-found':
      return new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: operation }, cause);
    case 'conflict':
    case 'trouble':
      return new SpindriftError('CLOUD_UNAVAILABLE', { operation, problem }, cause);
  }
}
