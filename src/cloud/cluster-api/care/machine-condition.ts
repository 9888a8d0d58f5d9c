import type { CoreMachine } from '../../../apis/cluster-api/machine.ts';
import type { Condition } from '../../../apis/kubernetes/object.ts';
import { SPINDRIFT_GROUP } from '../../../apis/spindrift/group.ts';
import { type EpochMs, toTimestamp } from '../../../platform/clock.ts';
import type { CreateFailure } from '../infrastructure/create-failure.ts';

/** On machines whose instance the cloud refuses: false, with the cloud's words. True once a machine that was refused has its instance. */
export const INSTANCE_CREATABLE = `${SPINDRIFT_GROUP}/InstanceCreatable`;

const REASONS: Readonly<Record<CreateFailure['cause'], string>> = {
  capacity: 'InsufficientCapacity',
  quota: 'QuotaExceeded',
  price: 'PriceTooLow',
  unsupported: 'Unsupported',
  denied: 'Denied',
};

/**
 * The conditions of a machine with what keeps it from its instance; undefined when they say so already. A machine without a failure gets
 * the condition only where it had one: providers try again, and what they said is over then.
 */
export function withMachineCondition(
  { status }: CoreMachine,
  failure: CreateFailure | undefined,
  now: EpochMs,
): { readonly conditions: readonly Condition[] } | undefined {
  const before = status?.conditions ?? [];
  const known = before.find(({ type }) => type === INSTANCE_CREATABLE);
  const said: Pick<Condition, 'status' | 'reason' | 'message'> =
    failure === undefined
      ? { status: 'True', reason: 'InstanceCreated', message: '' }
      : { status: 'False', reason: REASONS[failure.cause], message: failure.message.slice(0, 1024) };
  if (known === undefined ? failure === undefined : known.reason === said.reason) return undefined;
  const since = known?.status === said.status ? known.lastTransitionTime : undefined;
  return {
    conditions: [
      ...before.filter((condition) => condition !== known),
      { type: INSTANCE_CREATABLE, ...said, lastTransitionTime: since ?? toTimestamp(now) },
    ],
  };
}
