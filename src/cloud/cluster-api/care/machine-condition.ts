import type { CoreMachine } from '../../../apis/cluster-api/machine.ts';
import type { Condition } from '../../../apis/kubernetes/object.ts';
import { SPINDRIFT_GROUP } from '../../../apis/spindrift/group.ts';
import { type EpochMs, toTimestamp } from '../../../platform/clock.ts';
import type { CreateFailure } from '../infrastructure/create-failure.ts';

/** On machines whose instance the cloud refuses: false, with the cloud's words. */
export const INSTANCE_CREATABLE = `${SPINDRIFT_GROUP}/InstanceCreatable`;

const REASONS: Readonly<Record<CreateFailure['cause'], string>> = {
  capacity: 'InsufficientCapacity',
  quota: 'QuotaExceeded',
  price: 'PriceTooLow',
  unsupported: 'Unsupported',
  denied: 'Denied',
};

/** The conditions of a machine with what keeps it from its instance; undefined when they say so already. */
export function withMachineCondition(
  { status }: CoreMachine,
  { cause, message }: CreateFailure,
  now: EpochMs,
): { readonly conditions: readonly Condition[] } | undefined {
  const before = status?.conditions ?? [];
  const reason = REASONS[cause];
  if (before.some((condition) => condition.type === INSTANCE_CREATABLE && condition.reason === reason))
    return undefined;
  const others = before.filter(({ type }) => type !== INSTANCE_CREATABLE);
  const lastTransitionTime = toTimestamp(now);
  return {
    conditions: [
      ...others,
      { type: INSTANCE_CREATABLE, status: 'False', reason, message: message.slice(0, 1024), lastTransitionTime },
    ],
  };
}
