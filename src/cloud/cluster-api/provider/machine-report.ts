/** The status of an infrastructure machine, for both contracts: v1beta1 reads `ready` and `failureReason`, v1beta2 `initialization` and conditions. Pure. */
import type { Condition } from '../../../apis/kubernetes/object.ts';
import { type EpochMs, toTimestamp } from '../../../platform/clock.ts';
import { isInterruptible } from '../infrastructure/machine-settings.ts';
import type { InfrastructureObject } from '../infrastructure-objects.ts';
import type { SeenInstance } from './instance-cloud.ts';
import type { ProvidedKinds } from './provided-kinds.ts';

export type MachineReport = Readonly<Record<string, unknown>> & { readonly conditions: readonly Condition[] };

/** Why there is no instance, or none that works. */
export interface ReportedFailure {
  /** In CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** A lasting failure is one that no retry of ours ends. */
  readonly lasting: boolean;
}

/** How a machine stands that has no instance. */
export function reportWithoutInstance(
  machine: InfrastructureObject,
  { reason, message, lasting }: ReportedFailure,
  now: EpochMs,
): MachineReport {
  const conditions = withConditions(machine, { status: 'False', reason, message }, now);
  if (!lasting) return { conditions };
  return { conditions, ready: false, failureReason: 'CreateError', failureMessage: message.slice(0, 1024) };
}

/** How a machine stands that has, or had, an instance. */
export function reportWithInstance(
  kinds: ProvidedKinds,
  machine: InfrastructureObject,
  instance: SeenInstance,
  now: EpochMs,
): MachineReport {
  const { state, stateText, addresses, zone } = instance;
  const lost = LOST[state];
  const shown = {
    [kinds.stateField]: stateText,
    addresses,
    interruptible: isInterruptible(kinds.machine, machine.spec ?? {}, undefined),
    ...(zone !== '' && { failureDomain: zone }),
    // Once true it stays true: a machine that was provisioned was.
    initialization: { provisioned: true },
  };
  if (lost !== undefined) {
    const message = `the instance is ${stateText}; one machine has one instance, so no other is made: delete the Machine`;
    const conditions = withConditions(machine, { status: 'False', reason: lost, message }, now);
    return { ...shown, ready: false, failureReason: 'UpdateError', failureMessage: message, conditions };
  }
  const conditions =
    state === 'running'
      ? withConditions(machine, { status: 'True', reason: 'InstanceRunning', message: '' }, now)
      : withConditions(machine, { status: 'False', reason: 'InstanceNotReady', message: `it is ${stateText}` }, now);
  return { ...shown, ready: true, conditions };
}

/** Reasons that `isInstanceGone` knows. */
const LOST: Partial<Readonly<Record<SeenInstance['state'], string>>> = {
  gone: 'InstanceTerminated',
  stopped: 'InstanceStopped',
  stopping: 'InstanceStopped',
};

/** `Ready` and `InstanceReady` always say the same; conditions of other controllers stay. */
function withConditions(
  { status, metadata }: InfrastructureObject,
  said: Pick<Condition, 'status' | 'reason' | 'message'>,
  now: EpochMs,
): readonly Condition[] {
  const before = status?.conditions ?? [];
  const ours = ['Ready', 'InstanceReady'];
  const observed = metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
  return [
    ...before.filter(({ type }) => !ours.includes(type)),
    ...ours.map((type): Condition => {
      const known = before.find((condition) => condition.type === type);
      const since = known?.status === said.status ? known.lastTransitionTime : undefined;
      return { type, ...said, ...observed, lastTransitionTime: since ?? toTimestamp(now) };
    }),
  ];
}
