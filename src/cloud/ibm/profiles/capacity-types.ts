/** Between IBM's availability classes and capacity types. Profiles say which classes they have; nothing is known by name. */
import type { CapacityType } from '../../../apis/karpenter/labels.ts';
import type { ProfileField } from '../api/vpc-types.ts';
import { fieldValues } from './profile-field.ts';

/** The capacity type of a machine: `spot` is spot, and everything else is on-demand. */
export function capacityTypeOf(availabilityClass: string | undefined): CapacityType {
  return availabilityClass === 'spot' ? 'spot' : 'on-demand';
}

/** The capacity types that a profile is sold as: a fixed class is the only one, and a profile that says nothing is on-demand. */
export function capacityTypesOf(field: ProfileField<string> | undefined): readonly CapacityType[] {
  const classes = fieldValues(field);
  return classes.length === 0 ? ['on-demand'] : [...new Set(classes.map(capacityTypeOf))];
}
