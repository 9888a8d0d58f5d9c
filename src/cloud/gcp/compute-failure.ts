/** What a refusal of Compute Engine means: no stock, a quota, a permission, too many requests, or trouble of its own. */
import { type RefusalKind, refusalError } from '../thin/refusal-error.ts';
import { ComputeRefusal } from './compute-api.ts';

/** Sorts a refusal by code and text; the codes of operations and of bodies are different ones. */
export function computeFailureKind({ status, errors }: ComputeRefusal): RefusalKind {
  const text = errors.map(({ code, message }) => `${code} ${message}`).join('\n');
  if (/rateLimitExceeded|CONCURRENT_OPERATIONS_QUOTA_EXCEEDED|userRateLimitExceeded/.test(text) || status === 429)
    return 'throttled';
  if (/RESOURCE_POOL_EXHAUSTED|currently unavailable in the .* zone|IP_SPACE_EXHAUSTED/.test(text)) return 'capacity';
  if (/QUOTA/i.test(text)) return 'quota';
  if (/alreadyExists/.test(text) || status === 409) return 'exists';
  if (/cannot be used by|does not support|Invalid value for field/.test(text)) return 'unsupported';
  if (status === 404) return 'not-found';
  if (status === 401 || status === 403 || /PERMISSIONS_ERROR|CONDITION_NOT_MET/.test(text)) return 'denied';
  return status === 400 && !/RESOURCE_NOT_READY|INTERNAL_ERROR/.test(text) ? 'invalid' : 'trouble';
}

/** The error that controllers know for a refusal; other errors stay as they are. */
export function computeFailure(operation: string, claim: string, error: unknown): unknown {
  if (!(error instanceof ComputeRefusal)) return error;
  return refusalError(computeFailureKind(error), { operation, claim, refusal: error });
}
