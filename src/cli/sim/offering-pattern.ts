/** Some offerings of the simulated cloud, as a person writes them: `spot:m5.large:sim-1a`, `spot:*:sim-1a`, `spot`. */
import { CAPACITY_TYPES, type CapacityType } from '../../apis/karpenter/labels.ts';
import { SpindriftError } from '../../platform/errors.ts';
import { hint } from '../../platform/nearest.ts';

/** All offerings that agree with it. */
export interface OfferingPattern {
  readonly capacityType: CapacityType;
  /** `*` for all. */
  readonly instanceType: string;
  /** `*` for all. */
  readonly zone: string;
}

/** Reads a pattern; what is left out at its end means all. */
export function parsePattern(text: string): OfferingPattern {
  const [first = '', instanceType = '*', zone = '*', ...more] = text.split(':');
  const capacityType = CAPACITY_TYPES.find((known) => known === first);
  if (capacityType === undefined || instanceType === '' || zone === '' || more.length > 0) {
    const problem = `${text} names no offerings: write capacityType:instanceType:zone, as in spot:m5.large:sim-1a, spot:*:sim-1a or spot${hint(first, CAPACITY_TYPES)}`;
    throw new SpindriftError('ARGUMENT_INVALID', { command: 'spindrift sim', problem });
  }
  return { capacityType, instanceType, zone };
}

/** As it is written, in full. */
export function patternText({ capacityType, instanceType, zone }: OfferingPattern): string {
  return `${capacityType}:${instanceType}:${zone}`;
}

/** Whether all that the narrow pattern means, the wide one means too. */
export function includes(wide: OfferingPattern, narrow: OfferingPattern): boolean {
  return (
    wide.capacityType === narrow.capacityType &&
    (wide.instanceType === '*' || wide.instanceType === narrow.instanceType) &&
    (wide.zone === '*' || wide.zone === narrow.zone)
  );
}

/** Whether there can be an offering that both mean. */
export function overlaps(a: OfferingPattern, b: OfferingPattern): boolean {
  const meet = (one: string, other: string): boolean => one === '*' || other === '*' || one === other;
  return a.capacityType === b.capacityType && meet(a.instanceType, b.instanceType) && meet(a.zone, b.zone);
}
