/**
 * Reads from an infrastructure machine why it has no instance. The providers say it in the text of a condition, with the
 * cloud's own codes in it, and try again for ever; so the text is all there is to tell a sold-out type from a passing error.
 */
import type { Condition } from '../../../apis/kubernetes/object.ts';
import type { RefusalCause } from '../../cloud.ts';
import type { Provider } from './machine-settings.ts';

export interface CreateFailure {
  readonly cause: RefusalCause;
  /** The provider's own words. */
  readonly message: string;
}

/** What an infrastructure machine says of its state, in both contracts. */
export interface InfrastructureStatus {
  readonly conditions?: readonly Condition[];
  readonly failureReason?: string;
  readonly failureMessage?: string;
}

type Rule = readonly [cause: RefusalCause, pattern: RegExp];

const RULES: Readonly<Record<Provider, readonly Rule[]>> = {
  aws: [
    [
      'capacity',
      /InsufficientInstanceCapacity|InsufficientHostCapacity|InsufficientReservedInstanceCapacity|UnfulfillableCapacity|InsufficientFreeAddressesInSubnet/,
    ],
    ['price', /SpotMaxPriceTooLow/],
    ['quota', /MaxSpotInstanceCountExceeded|VcpuLimitExceeded|InstanceLimitExceeded|MaxSpotFleetRequestCountExceeded/],
    ['unsupported', /\bUnsupported\b|UnsupportedOperation|InvalidInstanceType/],
    ['denied', /UnauthorizedOperation|AuthFailure\.ServiceLinkedRoleCreationNotPermitted|AccessDenied/],
  ],
  gcp: [
    [
      'capacity',
      /ZONE_RESOURCE_POOL_EXHAUSTED|RESOURCE_POOL_EXHAUSTED|currently unavailable in the .* zone|IP_SPACE_EXHAUSTED/,
    ],
    ['quota', /QUOTA/],
    ['unsupported', /cannot be used by .* machine type|disk type cannot be used|Invalid value for field .*machineType/],
    ['denied', /PERMISSIONS_ERROR|CONDITION_NOT_MET/],
  ],
  azure: [
    ['quota', /OperationNotAllowed.*(LowPriorityCores|Family Cores quota|Total Regional Cores quota)|QuotaExceeded/s],
    ['price', /SpotPriceGreaterThanProvidedMaxPrice|max price .* is lower than the current spot price/],
    [
      'capacity',
      /SkuNotAvailable|ZonalAllocationFailed|AllocationFailed|Overconstrained(Zonal)?AllocationRequest|SubnetIsFull/,
    ],
    ['unsupported', /VMSizeNotSupported|is not supported for subscription/],
    ['denied', /AuthorizationFailed|RequestDisallowedByPolicy/],
  ],
};

/** What Spindrift writes where it is the provider itself. */
const OWN_RULES: readonly Rule[] = [
  ['quota', /^InstanceProvisionFailed no launch of .* a quota of the account/],
  ['capacity', /^InstanceProvisionFailed no capacity for /],
  ['denied', /^InvalidConfiguration .* was denied: /],
  ['unsupported', /^(InvalidConfiguration|ControlPlaneOnSpot) /],
];

/** Conditions about the instance; other conditions repeat them or are about something else. */
const ABOUT_THE_INSTANCE = /^(InstanceReady|InstanceProvisioned|VMRunning|VMProvisioned|Ready)$/;

/** Why the instance cannot be made; undefined while nothing lasting is said. */
export function createFailure(provider: Provider | undefined, status: InfrastructureStatus): CreateFailure | undefined {
  const said = [
    ...(status.conditions ?? [])
      .filter(({ type, status }) => status !== 'True' && ABOUT_THE_INSTANCE.test(type))
      .map(({ reason = '', message = '' }) => `${reason} ${message}`.trim()),
    `${status.failureReason ?? ''} ${status.failureMessage ?? ''}`.trim(),
  ].filter((text) => text !== '');
  const rules = [...(provider === undefined ? Object.values(RULES).flat() : RULES[provider]), ...OWN_RULES];
  for (const message of said) {
    const rule = rules.find(([, pattern]) => pattern.test(message));
    if (rule !== undefined) return { cause: rule[0], message };
  }
  return undefined;
}

/** Whether the instance was there and is gone or stopped, which no provider undoes as it should. */
export function isInstanceGone(status: InfrastructureStatus & Readonly<Record<string, unknown>>): string | undefined {
  const gone = (status.conditions ?? []).find(
    ({ type, status, reason }) =>
      status !== 'True' &&
      ABOUT_THE_INSTANCE.test(type) &&
      /^(InstanceTerminated|InstanceStopped|InstanceNotFound|VMDeleted|Deleted)$/.test(reason ?? ''),
  );
  if (gone !== undefined) return `${gone.reason}: ${gone.message ?? ''}`.trim();
  const state = status.instanceStatus ?? status.instanceState ?? status.vmState;
  if (
    typeof state === 'string' &&
    /^(TERMINATED|STOPPED|STOPPING|SUSPENDED|terminated|shutting-down|stopped|Deleted)$/.test(state)
  ) {
    return `the instance is ${state}`;
  }
  return undefined;
}
