import type { FieldError } from '../../schema/field-error.ts';
import type { Draft } from '../kind.ts';

export function validatePod(_object: Draft, _old?: Draft): FieldError[] {
  return [];
}
