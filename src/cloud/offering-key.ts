/** Offerings as plain data: one of them, some of them, and the text by which caches know them. */

import type { CapacityType } from '../apis/karpenter/labels.ts';

/** What has to be said to name one offering of a cloud. */
export interface OfferingName {
  readonly capacityType: CapacityType;
  readonly instanceType: string;
  readonly zone: string;
  /** Reserved only. */
  readonly reservationId?: string;
  /** The account and region that sell it: each has capacity of its own. */
  readonly scope?: string;
}

/** Some offerings: those that agree in everything that is said. */
export interface OfferingPattern {
  readonly capacityType?: CapacityType;
  readonly instanceType?: string;
  /** Any of these types, where several are meant: those of a family, say. */
  readonly instanceTypes?: ReadonlySet<string>;
  readonly zone?: string;
  readonly reservationId?: string;
  readonly scope?: string;
}

/** The name of an offering that has a price too. */
export function nameOf({ capacityType, instanceType, zone, reservationId }: OfferingName): OfferingName {
  return { capacityType, instanceType, zone, ...(reservationId !== undefined && { reservationId }) };
}

/** `spot:m5.large:zone-a`, for reserved capacity the reservation as a fourth part, and the scope before all where there is one. */
export function offeringKey({ capacityType, instanceType, zone, reservationId, scope }: OfferingName): string {
  return keyText([capacityType, instanceType, zone], reservationId, scope);
}

/** The same for a pattern, with `*` for what is not said. */
export function patternKey(pattern: OfferingPattern): string {
  const { capacityType = '*', instanceType, instanceTypes, zone = '*', reservationId, scope } = pattern;
  const types = instanceType ?? (instanceTypes === undefined ? '*' : [...instanceTypes].sort().join('|'));
  return keyText([capacityType, types, zone], reservationId, scope);
}

/** Whether a pattern says of an offering all that an offering's name says. */
export function namesOne(pattern: OfferingPattern): pattern is OfferingName {
  const { capacityType, instanceType, zone, reservationId } = pattern;
  const whole = capacityType !== undefined && instanceType !== undefined && zone !== undefined;
  return whole && (capacityType !== 'reserved' || reservationId !== undefined);
}

/** Whether the offering is one of those that the pattern means. */
export function matches(pattern: OfferingPattern, offering: OfferingName): boolean {
  const fields = ['capacityType', 'instanceType', 'zone', 'reservationId', 'scope'] as const;
  return (
    fields.every((field) => pattern[field] === undefined || pattern[field] === offering[field]) &&
    (pattern.instanceTypes?.has(offering.instanceType) ?? true)
  );
}

function keyText(parts: readonly string[], reservationId: string | undefined, scope: string | undefined): string {
  const whole = [...parts, ...(reservationId === undefined ? [] : [reservationId])].join(':');
  return scope === undefined ? whole : `${scope}/${whole}`;
}
