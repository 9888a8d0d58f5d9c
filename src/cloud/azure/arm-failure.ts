/** What a refusal of Azure means; quotas, locked resources and much else share one code and are told apart by their text. */
import type { RankedOffering } from '../../engine/solution.ts';
import type { Refusal } from '../cloud.ts';
import type { MachineShape } from '../machine-shape.ts';
import { nameOf, type OfferingPattern } from '../offering-key.ts';
import { type RefusalKind, refusalError } from '../thin/refusal-error.ts';
import { ArmRefusal } from './arm-api.ts';

const CAPACITY =
  /^(SkuNotAvailable|ZonalAllocationFailed|AllocationFailed|OverconstrainedZonalAllocationRequest|OverconstrainedAllocationRequest|SubnetIsFull|InsufficientSubnetSize|SpotPriceGreaterThanProvidedMaxPrice)$/;
const QUOTA = /LowPriorityCores|Family Cores quota|Total Regional Cores quota|exceeding approved/i;
/** Only these say that a resource is gone: a subscription that is not found is a 404 as well. */
const GONE = /^(ResourceNotFound|NotFound|ResourceGroupNotFound)$/;

/** Sorts a refusal by code and text. */
export function armFailureKind({ status, code, message }: ArmRefusal): RefusalKind {
  if (status === 429 || /TooManyRequests|Throttled/.test(code)) return 'throttled';
  if (CAPACITY.test(code) || /lower than the current spot price/.test(message)) return 'capacity';
  if (code === 'VMSizeNotSupported' || /is not supported for subscription/.test(message)) return 'unsupported';
  if ((code === 'OperationNotAllowed' && QUOTA.test(message)) || code === 'QuotaExceeded') return 'quota';
  if (code === 'PropertyChangeNotAllowed' || code === 'NicReservedForAnotherVm' || status === 409) return 'exists';
  if (status === 404) return GONE.test(code) ? 'not-found' : 'invalid';
  if (status === 401) return 'unauthenticated';
  if (status === 403) return 'denied';
  return status === 400 ? 'invalid' : 'trouble';
}

/** The error that controllers know for a refusal; other errors stay as they are. A VM that is gone is no error where VMs are read. */
export function armFailure(operation: string, claim: string, error: unknown): unknown {
  if (!(error instanceof ArmRefusal)) return error;
  const kind = armFailureKind(error);
  return refusalError(kind === 'not-found' ? 'invalid' : kind, { operation, claim, refusal: error });
}

/** The offerings that a refused create makes unavailable. */
export function refusedByArm(
  offering: RankedOffering,
  refusal: ArmRefusal,
  shapes: ReadonlyMap<string, MachineShape>,
): Omit<Refusal, 'message'> {
  const kind = armFailureKind(refusal);
  const { instanceType, zone, capacityType } = offering;
  if (kind === 'quota') return { offering: underQuota(offering, refusal.message, shapes), cause: 'quota' };
  if (kind === 'unsupported') return { offering: { instanceType }, cause: 'unsupported' };
  switch (refusal.code) {
    case 'ZonalAllocationFailed':
      return { offering: { instanceType, zone }, cause: 'capacity' };
    case 'AllocationFailed':
      return { offering: { instanceType }, cause: 'capacity' };
    case 'SkuNotAvailable':
      return { offering: { instanceType, capacityType }, cause: capacityType === 'spot' ? 'capacity' : 'unsupported' };
    default:
      return { offering: nameOf(offering), cause: 'capacity' };
  }
}

/** Spot cores and all cores of a region are counted for all sizes together, other cores by series: smaller sizes may still fit. */
function underQuota(
  { capacityType, instanceType }: RankedOffering,
  message: string,
  shapes: ReadonlyMap<string, MachineShape>,
): OfferingPattern {
  const shape = shapes.get(instanceType.toLowerCase());
  if (shape === undefined || !/Family Cores quota/i.test(message)) return { capacityType };
  const counted = [...shapes.values()].filter(({ family, vcpus }) => family === shape.family && vcpus >= shape.vcpus);
  return { capacityType, instanceTypes: new Set(counted.map(({ name }) => name)) };
}
