import { asError, hasCode, SpindriftError } from '../../platform/errors.ts';

/** A failure of the management cluster's API server in the words in which clouds fail; anything else stays as it is. */
export function kubeFailure(operation: string, error: unknown): unknown {
  const problem = asError(error).message;
  const cause = { cause: error };
  if (hasCode(error, 'KUBE_THROTTLED')) return new SpindriftError('CLOUD_THROTTLED', { operation }, cause);
  if (hasCode(error, 'KUBE_FORBIDDEN', 'KUBE_UNAUTHORIZED', 'KUBE_INVALID', 'KUBE_BAD_REQUEST', 'KUBE_UNSUPPORTED'))
    return new SpindriftError('CLOUD_DENIED', { operation, problem }, cause);
  if (
    hasCode(
      error,
      'KUBE_SERVER_ERROR',
      'KUBE_UNREACHABLE',
      'KUBE_PROTOCOL',
      'KUBE_CONFLICT',
      'KUBE_NOT_FOUND',
      'KUBE_EXPIRED',
    )
  )
    return new SpindriftError('CLOUD_UNAVAILABLE', { operation, problem }, cause);
  return error;
}
