/** Patterns for offerings of the simulated cloud: `spot:m5.large:sim-1a`, `spot:*:sim-1a`, `spot`. */
import { CAPACITY_TYPES, type CapacityType } from '../../apis/karpenter/labels.ts';
import { SpindriftError } from '../../platform/errors.ts';
import { hint } from '../../platform/nearest.ts';

/** Matches offerings by capacity type, instance type and zone. */
export interface OfferingPattern {
  readonly capacityType: CapacityType;
  /** `*` for all. */
  readonly instanceType: string;
  /** `*` for all. */
  readonly zone: string;
}

/** Parses a pattern; missing parts at its end match all. */
export function parsePattern(text: string): OfferingPattern {
  const [first = '', instanceType = '*', zone = '*', ...more] = text.split(':');
  const capacityType = CAPACITY_TYPES.find((known) => known === first);
  if (capacityType === undefined || instanceType === '' || zone === '' || more.length > 0) {
    const problem = `${text} is not an offering pattern: write capacityType:instanceType:zone, as in spot:m5.large:sim-1a, spot:*:sim-1a or spot${hint(first, CAPACITY_TYPES)}`;
    throw new SpindriftError('ARGUMENT_INVALID', { command: 'spindrift sim', problem });
  }
  return { capacityType, instanceType, zone };
}

/** The pattern as text. */
export function patternText({ capacityType, instanceType, zone }: OfferingPattern): string {
  return `${capacityType}:${instanceType}:${zone}`;
}

/** Whether `wide` matches every offering that `narrow` matches. */
export function includes(wide: OfferingPattern, narrow: OfferingPattern): boolean {
  return (
    wide.capacityType === narrow.capacityType &&
    (wide.instanceType === '*' || wide.instanceType === narrow.instanceType) &&
    (wide.zone === '*' || wide.zone === narrow.zone)
  );
}

/** Whether an offering can match both patterns. */
export function overlaps(a: OfferingPattern, b: OfferingPattern): boolean {
  const meet = (one: string, other: string): boolean => one === '*' || other === '*' || one === other;
  return a.capacityType === b.capacityType && meet(a.instanceType, b.instanceType) && meet(a.zone, b.zone);
}
