/** IBM Cloud's constraints on spot machines: why a class cannot launch them. Pure. */
import type { IBMNodeClassSpec } from '../../../apis/ibm/ibm-node-class.ts';
import type { MachineShape } from '../profiles/machine-shape.ts';

export interface SpotConstraint {
  /** In CamelCase. */
  readonly reason: string;
  readonly message: string;
}

export interface SpotConstraintOptions {
  readonly spec: Pick<IBMNodeClassSpec, 'placementTarget' | 'reservationAffinity' | 'instanceProfile'>;
  readonly placementKind: string | undefined;
  /** The profiles that the class may launch. */
  readonly shapes: readonly MachineShape[];
}

/** The first constraint that forbids spot; undefined if spot can be launched. */
export function spotConstraint({ spec, placementKind, shapes }: SpotConstraintOptions): SpotConstraint | undefined {
  const { placementTarget, reservationAffinity, instanceProfile } = spec;
  const policy = reservationAffinity?.policy ?? 'disabled';
  if (policy !== 'disabled')
    return {
      reason: 'ReservationAffinity',
      message: `spec.reservationAffinity.policy is ${policy}, but spot machines need disabled: leave it out, or launch spot from another class`,
    };
  if (placementKind === 'DedicatedHost' || placementKind === 'DedicatedHostGroup')
    return {
      reason: placementKind,
      message: `spec.placementTarget ${placementTarget} is a dedicated host${placementKind === 'DedicatedHostGroup' ? ' group' : ''}, where IBM Cloud puts no spot machines: leave it out, or launch spot from another class`,
    };
  if (shapes.some(({ capacityTypes }) => capacityTypes.includes('spot'))) return undefined;
  return instanceProfile === undefined
    ? {
        reason: 'NoProfileWithSpot',
        message: 'none of the profiles that the class allows is sold as spot: Flex and GPU profiles are',
      }
    : {
        reason: 'ProfileWithoutSpot',
        message: `spec.instanceProfile ${instanceProfile} is not sold as spot: choose a Flex profile such as bxf-4x16 or a GPU profile`,
      };
}
