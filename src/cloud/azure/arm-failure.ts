/** What a refusal of Azure means; quotas, locked resources and much else share one code and are told apart by their text. */
import { type RefusalKind, refusalError } from '../thin/refusal-error.ts';
import { ArmRefusal } from './arm-api.ts';

const CAPACITY =
  /^(SkuNotAvailable|ZonalAllocationFailed|AllocationFailed|OverconstrainedZonalAllocationRequest|OverconstrainedAllocationRequest|VMSizeNotSupported|SubnetIsFull|InsufficientSubnetSize)$/;
const QUOTA = /LowPriorityCores|Family Cores quota|Total Regional Cores quota|exceeding approved/i;

/** Sorts a refusal by code and text. */
export function armFailureKind({ status, code, message }: ArmRefusal): RefusalKind {
  if (status === 429 || /TooManyRequests|Throttled/.test(code)) return 'throttled';
  if (CAPACITY.test(code) || /is not supported for subscription/.test(message)) return 'capacity';
  if ((code === 'OperationNotAllowed' && QUOTA.test(message)) || code === 'QuotaExceeded') return 'quota';
  if (code === 'PropertyChangeNotAllowed' || code === 'NicReservedForAnotherVm' || status === 409) return 'exists';
  if (status === 404) return 'not-found';
  if (status === 401 || status === 403) return 'denied';
  return status === 400 ? 'invalid' : 'trouble';
}

/** The error that controllers know for a refusal; other errors stay as they are. */
export function armFailure(operation: string, claim: string, error: unknown): unknown {
  if (!(error instanceof ArmRefusal)) return error;
  return refusalError(armFailureKind(error), { operation, claim, refusal: error });
}
