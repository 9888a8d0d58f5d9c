/** Maps IBM's availability classes to capacity types. Profiles list their classes; nothing is inferred from names. */
import type { CapacityType } from '../../../apis/karpenter/labels.ts';
import type { ProfileField } from '../api/vpc-types.ts';
import { fieldValues } from './profile-field.ts';

/** The capacity type of a machine: on-demand unless its class is `spot`. */
export function capacityTypeOf(availabilityClass: string | undefined): CapacityType {
  return availabilityClass === 'spot' ? 'spot' : 'on-demand';
}

/** The capacity types of a profile: its fixed class alone, or on-demand if it lists none. */
export function capacityTypesOf(field: ProfileField<string> | undefined): readonly CapacityType[] {
  const classes = fieldValues(field);
  return classes.length === 0 ? ['on-demand'] : [...new Set(classes.map(capacityTypeOf))];
}
