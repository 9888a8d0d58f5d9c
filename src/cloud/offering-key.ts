/** Names of offerings, patterns that match several, and keys for caches. */

import type { CapacityType } from '../apis/karpenter/labels.ts';

/** Identifies one offering of a cloud. */
export interface OfferingName {
  readonly capacityType: CapacityType;
  readonly instanceType: string;
  readonly zone: string;
  /** Reserved only. */
  readonly reservationId?: string;
  /** The account and region. Each has its own capacity. */
  readonly scope?: string;
}

/** Matches every offering that agrees in all the given fields. */
export interface OfferingPattern {
  readonly capacityType?: CapacityType;
  readonly instanceType?: string;
  /** Any of these types, for example those of a family. */
  readonly instanceTypes?: ReadonlySet<string>;
  readonly zone?: string;
  readonly reservationId?: string;
  readonly scope?: string;
}

/** The name of an offering that has a price too. */
export function nameOf({ capacityType, instanceType, zone, reservationId }: OfferingName): OfferingName {
  return { capacityType, instanceType, zone, ...(reservationId !== undefined && { reservationId }) };
}

/** `spot:m5.large:zone-a`; with the reservation ID as a fourth part, and `SCOPE/` in front, if there are any. */
export function offeringKey({ capacityType, instanceType, zone, reservationId, scope }: OfferingName): string {
  return keyText([capacityType, instanceType, zone], reservationId, scope);
}

/** The key of a pattern, with `*` for absent fields. */
export function patternKey(pattern: OfferingPattern): string {
  const { capacityType = '*', instanceType, instanceTypes, zone = '*', reservationId, scope } = pattern;
  const types = instanceType ?? (instanceTypes === undefined ? '*' : [...instanceTypes].sort().join('|'));
  return keyText([capacityType, types, zone], reservationId, scope);
}

/** Whether a pattern identifies exactly one offering. */
export function namesOne(pattern: OfferingPattern): pattern is OfferingName {
  const { capacityType, instanceType, zone, reservationId } = pattern;
  const whole = capacityType !== undefined && instanceType !== undefined && zone !== undefined;
  return whole && (capacityType !== 'reserved' || reservationId !== undefined);
}

/** Whether the pattern matches the offering. */
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
