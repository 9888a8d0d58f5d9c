/** Converts errors of the simulated cloud to ours. */
import { SpindriftError } from '../../platform/errors.ts';
import { ApiError } from './api-error.ts';

/** Our error for what a call threw; errors that are not from the cloud stay as they are. */
export function apiFailure(operation: string, thrown: unknown): unknown {
  if (!(thrown instanceof ApiError)) return thrown;
  const { code, message: problem, retryAfterMs } = thrown;
  const cause = { cause: thrown };
  switch (code) {
    case 'InsufficientInstanceCapacity':
    case 'ReservationCapacityExceeded':
    // An offering that is no longer sold counts as sold out: the next one is tried.
    case 'InvalidParameter':
      return new SpindriftError('CLOUD_INSUFFICIENT_CAPACITY', { claim: operation, offerings: problem }, cause);
    case 'InstanceLimitExceeded':
      return new SpindriftError('CLOUD_QUOTA_EXCEEDED', { claim: operation, problem }, cause);
    case 'RequestLimitExceeded':
      return new SpindriftError('CLOUD_THROTTLED', { operation, retryAfterMs }, cause);
    case 'UnauthorizedOperation':
      return new SpindriftError('CLOUD_DENIED', { operation, problem }, cause);
    // The earlier launch with that token or name is found once lists show it.
    case 'IdempotentParameterMismatch':
    case 'NameNotUnique':
    case 'InternalError':
      return new SpindriftError('CLOUD_UNAVAILABLE', { operation, problem }, cause);
    case 'IncorrectInstanceState':
      return new SpindriftError('CLOUD_REBOOT_REFUSED', { instance: operation, problem }, cause);
    case 'InstanceNotFound':
      return new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: operation }, cause);
  }
}
