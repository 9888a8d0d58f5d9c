/** One offering as plain data, and the text by which caches know it. */

import type { CapacityType } from '../apis/karpenter/labels.ts';

/** What has to be said to name one offering of a cloud. */
export interface OfferingName {
  readonly capacityType: CapacityType;
  readonly instanceType: string;
  readonly zone: string;
  /** Reserved only. */
  readonly reservationId?: string;
}

/** `spot:m5.large:zone-a`, and for reserved capacity the reservation as a fourth part. */
export function offeringKey({ capacityType, instanceType, zone, reservationId }: OfferingName): string {
  const key = `${capacityType}:${instanceType}:${zone}`;
  return reservationId === undefined ? key : `${key}:${reservationId}`;
}
