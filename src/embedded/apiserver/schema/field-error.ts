/** What is wrong with one field, in the words of the API server: one entry of `Status.details.causes`. */

export type FieldErrorReason =
  | 'FieldValueInvalid'
  | 'FieldValueRequired'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

export interface FieldError {
  readonly reason: FieldErrorReason;
  /** `spec.containers[0].name`. */
  readonly field: string;
  /** The sentence without the field: `Invalid value: 101: spec.weight in body should be less than or equal to 100`. */
  readonly message: string;
}

/**
 * The part of a Status message after `Kind.group "name" is invalid: `: one error plain, several in brackets,
 * the same sentence once.
 */
export function describeFieldErrors(errors: readonly FieldError[]): string {
  const sentences = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  return sentences.length === 1 ? (sentences[0] as string) : `[${sentences.join(', ')}]`;
}
