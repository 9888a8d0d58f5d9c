/** Failures as the simulated cloud's API reports them: in its own words, which the provider has to understand. */

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

/** An answer of the simulated cloud that says no. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  /** For how long not to ask again, where the cloud says so. */
  readonly retryAfterMs?: number;

  constructor(code: ApiErrorCode, message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}
