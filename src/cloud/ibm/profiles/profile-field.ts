/** Reads the union-typed fields of profiles. */
import type { ProfileField } from '../api/vpc-types.ts';

/** The default value of a field. Undefined if it depends on something else. */
export function fieldValue<T>(field: ProfileField<T> | undefined): T | undefined {
  switch (field?.type) {
    case 'fixed':
      return field.value;
    case 'enum':
      return field.default ?? field.values[0];
    case 'range':
      return (field.default ?? field.min) as T;
    default:
      return undefined;
  }
}

/** All values that can be requested; empty if they depend on something else. */
export function fieldValues<T>(field: ProfileField<T> | undefined): readonly T[] {
  switch (field?.type) {
    case 'fixed':
      return [field.value];
    case 'enum':
      return field.values;
    default:
      return [];
  }
}
