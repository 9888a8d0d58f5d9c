/** What a refusal of Compute Engine means: no stock, a quota, a permission, too many requests, or trouble of its own. */
import { SpindriftError } from '../../platform/errors.ts';
import { ComputeRefusal } from './compute-api.ts';

export type ComputeFailureKind =
  | 'capacity'
  | 'quota'
  | 'throttled'
  | 'denied'
  | 'not-found'
  | 'exists'
  | 'unsupported'
  | 'trouble';

/** Sorts a refusal by code and text; the codes of operations and of bodies are different ones. */
export function computeFailureKind({ status, errors }: ComputeRefusal): ComputeFailureKind {
  const text = errors.map(({ code, message }) => `${code} ${message}`).join('\n');
  if (/rateLimitExceeded|CONCURRENT_OPERATIONS_QUOTA_EXCEEDED|userRateLimitExceeded/.test(text) || status === 429)
    return 'throttled';
  if (/RESOURCE_POOL_EXHAUSTED|currently unavailable in the .* zone|IP_SPACE_EXHAUSTED/.test(text)) return 'capacity';
  if (/QUOTA/i.test(text)) return 'quota';
  if (/alreadyExists/.test(text) || status === 409) return 'exists';
  if (/cannot be used by|does not support|Invalid value for field/.test(text)) return 'unsupported';
  if (status === 404) return 'not-found';
  if (status === 401 || status === 403 || /PERMISSIONS_ERROR|CONDITION_NOT_MET/.test(text)) return 'denied';
  return 'trouble';
}

/** The error that controllers know for a refusal; other errors stay as they are. */
export function computeFailure(operation: string, claim: string, error: unknown): unknown {
  if (!(error instanceof ComputeRefusal)) return error;
  const problem = error.message;
  const cause = { cause: error };
  switch (computeFailureKind(error)) {
    case 'capacity':
    case 'unsupported':
      return new SpindriftError('CLOUD_INSUFFICIENT_CAPACITY', { claim, offerings: problem }, cause);
    case 'quota':
      return new SpindriftError('CLOUD_QUOTA_EXCEEDED', { claim, problem }, cause);
    case 'throttled':
      return new SpindriftError('CLOUD_THROTTLED', { operation }, cause);
    case 'denied':
      return new SpindriftError('CLOUD_DENIED', { operation, problem }, cause);
    case 'not-found':
      return new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: operation }, cause);
    case 'exists':
    case 'trouble':
      return new SpindriftError('CLOUD_UNAVAILABLE', { operation, problem }, cause);
  }
}
