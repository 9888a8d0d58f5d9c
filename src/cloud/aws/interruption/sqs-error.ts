import { asError, SpindriftError } from '../../../platform/errors.ts';

const MISSING = /^(?:QueueDoesNotExist|AWS\.SimpleQueueService\.NonExistentQueue|QueueDeletedRecently|InvalidAddress)$/;
const DENIED =
  /AccessDenied|^(?:InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|ExpiredToken\w*|InvalidSecurity|CredentialsProviderError|InvalidSignatureException|Unauthorized\w*)$/;
const THROTTLED = /Throttl|^(?:OverLimit|TooManyRequests\w*|RequestLimitExceeded|SlowDown)$/;

/** Converts an SDK error about the queue to one of ours that says what to change. */
export function sqsError(thrown: unknown, operation: string, queue: string): SpindriftError {
  const cause = asError(thrown);
  const { name, message } = cause;
  const problem = `${name}: ${message}`.slice(0, 400);
  if (MISSING.test(name)) return new SpindriftError('AWS_QUEUE_MISSING', { queue }, { cause });
  if (name.startsWith('Kms') || name.startsWith('KMS')) {
    const fix = `${problem}; the key of queue ${queue} must allow us kms:Decrypt`;
    return new SpindriftError('CLOUD_DENIED', { operation, problem: fix }, { cause });
  }
  if (DENIED.test(name)) return new SpindriftError('CLOUD_DENIED', { operation, problem }, { cause });
  if (THROTTLED.test(name)) return new SpindriftError('CLOUD_THROTTLED', { operation }, { cause });
  return new SpindriftError('CLOUD_UNAVAILABLE', { operation, problem }, { cause });
}
