/** What the simulated cloud's refusals mean to Spindrift. */
import { SpindriftError } from '../../platform/errors.ts';
import { ApiError } from './api-error.ts';

/** The error of our own table for what a call threw; what is not of the cloud stays as it is. */
export function apiFailure(operation: string, thrown: unknown): unknown {
  if (!(thrown instanceof ApiError)) return thrown;
  const { code, message: problem, retryAfterMs } = thrown;
  const cause = { cause: thrown };
  switch (code) {
    case 'InsufficientInstanceCapacity':
    case 'ReservationCapacityExceeded':
    // An offering that is no longer sold is as good as one that has run out: take the next.
    case 'InvalidParameter':
      return new SpindriftError('CLOUD_INSUFFICIENT_CAPACITY', { claim: operation, offerings: problem }, cause);
    case 'InstanceLimitExceeded':
      return new SpindriftError('CLOUD_QUOTA_EXCEEDED', { claim: operation, problem }, cause);
    case 'RequestLimitExceeded':
      return new SpindriftError('CLOUD_THROTTLED', { operation, retryAfterMs }, cause);
    case 'UnauthorizedOperation':
      return new SpindriftError('CLOUD_DENIED', { operation, problem }, cause);
    // The former launch of that token, or of that name, is found when it is shown.
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
