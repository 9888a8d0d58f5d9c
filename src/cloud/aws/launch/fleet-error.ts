/** Interprets the entries of `Errors` in a CreateFleet answer: unavailable offerings, or a mistake in the request. */
import type { RefusalCause } from '../../cloud.ts';

export type FleetErrorMeaning =
  /** The offering is unavailable now. */
  | { readonly kind: 'offering'; readonly cause: RefusalCause }
  /** The reservation has no slot left. */
  | { readonly kind: 'reservation' }
  /** The subnet has no free address. Other subnets of the zone may have some. */
  | { readonly kind: 'subnet' }
  /** No spot machine of any type, until the account is set up for spot. */
  | { readonly kind: 'all-spot'; readonly cause: RefusalCause }
  /** The launch template is gone: create it again. */
  | { readonly kind: 'template' }
  /** A temporary failure of AWS. */
  | { readonly kind: 'retry' }
  /** A user must change something, as the fix says. */
  | { readonly kind: 'terminal'; readonly reason: string; readonly fix: string };

const OFFERING: Readonly<Record<string, RefusalCause>> = {
  InsufficientInstanceCapacity: 'capacity',
  UnfulfillableCapacity: 'capacity',
  InsufficientHostCapacity: 'capacity',
  InsufficientCapacityOnHost: 'capacity',
  MaxSpotInstanceCountExceeded: 'quota',
  VcpuLimitExceeded: 'quota',
  InstanceLimitExceeded: 'quota',
  MaxFleetCountExceeded: 'quota',
  SpotMaxPriceTooLow: 'price',
  Unsupported: 'unsupported',
  UnsupportedOperation: 'unsupported',
  InvalidInstanceType: 'unsupported',
  InsufficientReservedInstanceCapacity: 'capacity',
};
const RETRY = new Set([
  'RequestLimitExceeded',
  'InternalError',
  'InternalFailure',
  'ServiceUnavailable',
  'Unavailable',
]);
const TERMINAL: Readonly<Record<string, { readonly reason: string; readonly fix: string }>> = {
  UnauthorizedOperation: {
    reason: 'Unauthorized',
    fix: 'allow the controller to launch: spindrift aws policy prints what it needs',
  },
  'InvalidAMIID.NotFound': { reason: 'AMINotFound', fix: 'the image is gone: correct amiSelectorTerms' },
  'InvalidAMIID.Malformed': { reason: 'InvalidAMIID', fix: 'correct the id in amiSelectorTerms' },
  InvalidAMIID: { reason: 'InvalidAMIID', fix: 'correct the id in amiSelectorTerms' },
  'InvalidGroup.NotFound': { reason: 'SecurityGroupsNotFound', fix: 'correct securityGroupSelectorTerms' },
  'InvalidSubnetID.NotFound': { reason: 'SubnetsNotFound', fix: 'correct subnetSelectorTerms' },
  AccountPendingVerification: { reason: 'AccountPendingVerification', fix: 'wait until AWS has verified the account' },
  PendingVerification: { reason: 'AccountPendingVerification', fix: 'wait until AWS has verified the account' },
};

export function fleetErrorMeaning(code: string, message: string): FleetErrorMeaning {
  if (code === 'ReservationCapacityExceeded' || code === 'InsufficientCapacityInReservation')
    return { kind: 'reservation' };
  if (code === 'InsufficientFreeAddressesInSubnet') return { kind: 'subnet' };
  if (code.startsWith('InvalidLaunchTemplate')) return { kind: 'template' };
  if (/service-linked role/i.test(message)) return { kind: 'all-spot', cause: 'denied' };
  if (code === 'InvalidParameterValue' && /free.?tier/i.test(message))
    return { kind: 'offering', cause: 'unsupported' };
  if (code === 'InvalidParameterValue' && /instance profile/i.test(message)) {
    // A new instance profile takes seconds to be visible to EC2.
    return { kind: 'retry' };
  }
  if (code === 'InvalidParameter' && /different networks/i.test(message)) {
    return {
      kind: 'terminal',
      reason: 'SecurityGroupSubnetVPCMismatch',
      fix: 'security groups and subnets must be of one VPC',
    };
  }
  const cause = OFFERING[code];
  if (cause !== undefined) return { kind: 'offering', cause };
  if (RETRY.has(code)) return { kind: 'retry' };
  const known = TERMINAL[code];
  return { kind: 'terminal', ...(known ?? { reason: 'LaunchFailed', fix: 'see what AWS says' }) };
}
