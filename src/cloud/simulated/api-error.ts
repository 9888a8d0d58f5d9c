/** Errors as the simulated cloud's API reports them. The driver must translate them. */

export type ApiErrorCode =
  | 'InsufficientInstanceCapacity'
  | 'ReservationCapacityExceeded'
  | 'InstanceLimitExceeded'
  | 'RequestLimitExceeded'
  | 'UnauthorizedOperation'
  | 'InternalError'
  | 'InvalidParameter'
  | 'IncorrectInstanceState'
  | 'IdempotentParameterMismatch'
  | 'NameNotUnique'
  | 'InstanceNotFound';

/** An error answer of the simulated cloud. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  /** How long to wait before trying again, if the cloud says so. */
  readonly retryAfterMs?: number;

  constructor(code: ApiErrorCode, message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}
