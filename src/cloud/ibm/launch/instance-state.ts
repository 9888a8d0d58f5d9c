/** Interprets an instance's status for launches, lists and preemption. Pure. */

import type { Refusal } from '../../cloud.ts';
import type { VpcInstance } from '../api/vpc-types.ts';
import { capacityTypeOf } from '../profiles/capacity-types.ts';

/** The outcome of an accepted launch. */
export type StartState =
  | { readonly kind: 'running' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'deleting' }
  | { readonly kind: 'failed'; readonly refusal: Refusal };

const PREEMPTED = 'stopped_by_preemption';

/** Status 201 is not success yet: a machine without capacity reports that in its status later. */
export function startState(instance: VpcInstance): StartState {
  const { status, status_reasons: reasons, lifecycle_state: lifecycle, lifecycle_reasons = [] } = instance;
  if (status === 'deleting' || lifecycle === 'deleting') return { kind: 'deleting' };
  if (status === 'running') return { kind: 'running' };
  const why =
    reasons.find(({ code }) => code.startsWith('cannot_start')) ??
    lifecycle_reasons.find(({ code }) => FAILED_LIFECYCLE.has(code));
  if (status !== 'failed' && lifecycle !== 'failed' && !(status === 'stopped' && why !== undefined)) {
    // A machine that was preempted or stopped had been running, so the launch succeeded.
    return { kind: status === 'stopped' || status === 'stopping' ? 'running' : 'starting' };
  }
  return { kind: 'failed', refusal: refusalOf(instance, why ?? reasons[0]) };
}

const FAILED_LIFECYCLE = new Set(['failed_registration', 'internal_error', 'resource_suspended_by_provider']);

function refusalOf(
  instance: VpcInstance,
  why: { readonly code: string; readonly message: string } | undefined,
): Refusal {
  const zone = instance.zone.name;
  const message = why === undefined ? `the machine failed to start in ${zone}` : `${why.message} (${why.code})`;
  // A full subnet affects every type; other reasons concern this offering.
  if (why?.code === 'cannot_start_ip_address') return { offering: { zone }, cause: 'capacity', message };
  const offering = {
    capacityType: capacityTypeOf(instance.availability?.class),
    instanceType: instance.profile.name,
    zone,
  };
  return { offering, cause: why?.code === 'failed_registration' ? 'denied' : 'capacity', message };
}

/** Whether IBM preempted the machine. A stop by a user or a host failure does not count. */
export function isPreempted({
  status,
  status_reasons: reasons,
}: Pick<VpcInstance, 'status' | 'status_reasons'>): boolean {
  return status === 'stopped' && reasons.some(({ code }) => code === PREEMPTED);
}

/** The state in terms of the driver contract. */
export function machineState({ status }: VpcInstance): 'pending' | 'running' | 'stopping' | 'stopped' {
  switch (status) {
    case 'running':
    case 'restarting':
      return 'running';
    case 'deleting':
    case 'stopping':
      return 'stopping';
    case 'stopped':
    case 'failed':
      return 'stopped';
    default:
      return 'pending';
  }
}
