/** The error of the CLOUD_* rows for each kind of refusal, whichever cloud it comes from. */
import { SpindriftError } from '../../platform/errors.ts';

export type RefusalKind =
  | 'capacity'
  | 'quota'
  | 'throttled'
  | 'unauthenticated'
  | 'denied'
  | 'not-found'
  | 'exists'
  | 'unsupported'
  | 'invalid'
  | 'trouble';

/** The call that was refused. */
export interface RefusedCall {
  readonly operation: string;
  /** The claim or machine that a launch was for. */
  readonly claim: string;
  readonly refusal: Error;
}

export function refusalError(kind: RefusalKind, { operation, claim, refusal }: RefusedCall): SpindriftError {
  const problem = refusal.message;
  const cause = { cause: refusal };
  switch (kind) {
    case 'capacity':
    case 'unsupported':
      return new SpindriftError('CLOUD_INSUFFICIENT_CAPACITY', { claim, offerings: problem }, cause);
    case 'quota':
      return new SpindriftError('CLOUD_QUOTA_EXCEEDED', { claim, problem }, cause);
    case 'throttled':
      return new SpindriftError('CLOUD_THROTTLED', { operation }, cause);
    case 'unauthenticated':
      return new SpindriftError('CLOUD_CREDENTIALS', { operation, problem }, cause);
    case 'denied':
      return new SpindriftError('CLOUD_DENIED', { operation, problem }, cause);
    case 'invalid':
      return new SpindriftError('CLOUD_REFUSED', { operation, problem }, cause);
    case 'not-found':
      return new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: operation }, cause);
    case 'exists':
    case 'trouble':
      return new SpindriftError('CLOUD_UNAVAILABLE', { operation, problem }, cause);
  }
}
