import type { Status } from '../apis/kubernetes/status.ts';
import { type ERRORS, type ErrorCode, SpindriftError } from '../platform/errors.ts';

/** Errors with the message of the server. */
type StatusErrorCode = {
  [Code in ErrorCode]: (typeof ERRORS)[Code]['message'] extends '{message}' ? Code : never;
}[ErrorCode];

/** A failure that the API server reported; it keeps the server's own Status. */
export class KubeError extends SpindriftError<StatusErrorCode> {
  readonly status: Status;

  constructor(status: Status) {
    const message = status.message ?? `the server answered ${status.code ?? 'nothing'} without a message`;
    super(codeOf(status), { message, reason: status.reason ?? '', status: status.code ?? 0 });
    this.name = 'KubeError';
    this.status = status;
  }

  /** The server's Retry-After, if any. */
  get retryAfterMs(): number | undefined {
    const seconds = this.status.details?.retryAfterSeconds;
    return seconds === undefined ? undefined : seconds * 1000;
  }
}

/** Maps a Status to an error code, by its reason where that is known, else by its HTTP code. */
function codeOf(status: Status): StatusErrorCode {
  const { code = 0, reason } = status;
  if (code === 429 && status.details?.causes?.some((cause) => cause.reason === 'DisruptionBudget')) {
    return 'KUBE_DISRUPTION_BUDGET';
  }
  if (reason === 'AlreadyExists') return 'KUBE_ALREADY_EXISTS';
  if (reason === 'Expired' || reason === 'Gone') return 'KUBE_EXPIRED';
  switch (code) {
    case 400:
      return 'KUBE_BAD_REQUEST';
    case 401:
      return 'KUBE_UNAUTHORIZED';
    case 403:
      return 'KUBE_FORBIDDEN';
    case 404:
      return 'KUBE_NOT_FOUND';
    case 405:
    case 406:
    case 415:
      return 'KUBE_UNSUPPORTED';
    case 409:
      return 'KUBE_CONFLICT';
    case 410:
      return 'KUBE_EXPIRED';
    case 413:
      return 'KUBE_TOO_LARGE';
    case 422:
      return 'KUBE_INVALID';
    case 429:
      return 'KUBE_THROTTLED';
    default:
      return code >= 500 ? 'KUBE_SERVER_ERROR' : 'KUBE_BAD_REQUEST';
  }
}
