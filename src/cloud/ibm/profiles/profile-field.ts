/** Reads the union-typed fields of profiles. */
import type { ProfileField } from '../api/vpc-types.ts';

/** What a machine gets when nothing is asked for; undefined where that depends on something else. */
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

/** Every value that can be asked for; none where that depends on something else. */
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
