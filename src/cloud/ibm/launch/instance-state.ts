/** What an instance's status means for a launch, for a list and for preemption. Pure. */

import type { Refusal } from '../../cloud.ts';
import type { VpcInstance } from '../api/vpc-types.ts';
import { capacityTypeOf } from '../profiles/capacity-types.ts';

/** What has become of a launch that was accepted. */
export type StartState =
  | { readonly kind: 'running' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'deleting' }
  | { readonly kind: 'failed'; readonly refusal: Refusal };

const PREEMPTED = 'stopped_by_preemption';

/** 201 is not success: a machine that finds no capacity says so in its status afterwards. */
export function startState(instance: VpcInstance): StartState {
  const { status, status_reasons: reasons, lifecycle_state: lifecycle, lifecycle_reasons = [] } = instance;
  if (status === 'deleting' || lifecycle === 'deleting') return { kind: 'deleting' };
  if (status === 'running') return { kind: 'running' };
  const why =
    reasons.find(({ code }) => code.startsWith('cannot_start')) ??
    lifecycle_reasons.find(({ code }) => FAILED_LIFECYCLE.has(code));
  if (status !== 'failed' && lifecycle !== 'failed' && !(status === 'stopped' && why !== undefined)) {
    // A machine that was preempted, or stopped by somebody, was running before: it is what the claim got.
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
  // A subnet without addresses is so for every type; everything else is about this one.
  if (why?.code === 'cannot_start_ip_address') return { offering: { zone }, cause: 'capacity', message };
  const offering = {
    capacityType: capacityTypeOf(instance.availability?.class),
    instanceType: instance.profile.name,
    zone,
  };
  return { offering, cause: why?.code === 'failed_registration' ? 'denied' : 'capacity', message };
}

/** Whether IBM took the machine back. A machine that somebody stopped, or whose host failed, was not taken back. */
export function isPreempted({
  status,
  status_reasons: reasons,
}: Pick<VpcInstance, 'status' | 'status_reasons'>): boolean {
  return status === 'stopped' && reasons.some(({ code }) => code === PREEMPTED);
}

/** The state as the driver contract has it. */
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
