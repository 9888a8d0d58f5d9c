/** An error of one field, in the API server's words: one entry of `Status.details.causes`. */
import { quoted, valueText } from './go-text.ts';
import type { Json } from './schema.ts';

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
  /** The message without the field: `Invalid value: 101: spec.weight in body should be less than or equal to 100`. */
  readonly message: string;
}

/**
 * The part of a Status message after `Kind.group "name" is invalid: `. Several errors are put in brackets; duplicates
 * are listed once.
 */
export function describeFieldErrors(errors: readonly FieldError[]): string {
  const sentences = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  return sentences.length === 1 ? (sentences[0] as string) : `[${sentences.join(', ')}]`;
}

/** `Invalid value: <value>: <detail>`. */
export function invalid(field: string, value: Json | undefined, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${valueText(value)}: ${detail}` };
}

/** A value of the wrong type: reads like {@link invalid}, but CEL rules are then not evaluated. */
export function typeInvalid(field: string, value: Json | undefined, detail: string): FieldError {
  return { ...invalid(field, value, detail), reason: 'FieldValueTypeInvalid' };
}

/** `Required value`, with a detail if there is one. */
export function required(field: string, detail = ''): FieldError {
  return { reason: 'FieldValueRequired', field, message: withDetail('Required value', detail) };
}

/** `Forbidden: <detail>`. */
export function forbidden(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) };
}

/** `Duplicate value: <value>`. */
export function duplicate(field: string, value: Json): FieldError {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${valueText(value)}` };
}

/** `Unsupported value: <value>: supported values: "a", "b"`. */
export function notSupported(field: string, value: Json | undefined, supported: readonly string[]): FieldError {
  const list = supported.length === 0 ? '' : `: supported values: ${supported.map(quoted).join(', ')}`;
  return { reason: 'FieldValueNotSupported', field, message: `Unsupported value: ${valueText(value)}${list}` };
}

/** `Too long: may not be more than N bytes`. */
export function tooLong(field: string, limit: number): FieldError {
  const detail = `may not be more than ${limit} ${limit === 1 ? 'byte' : 'bytes'}`;
  return { reason: 'FieldValueTooLong', field, message: `Too long: ${detail}` };
}

/** `Too many: N: must have at most M items`. */
export function tooMany(field: string, actual: number, limit: number): FieldError {
  const detail = `must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`;
  return { reason: 'FieldValueTooMany', field, message: `Too many: ${actual}: ${detail}` };
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}
