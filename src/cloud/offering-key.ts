/** One offering as plain data, and the text by which caches know it. */

import type { CapacityType } from '../apis/karpenter/labels.ts';

/** What has to be said to name one offering of a cloud. */
export interface OfferingName {
  readonly capacityType: CapacityType;
  readonly instanceType: string;
  readonly zone: string;
  /** Reserved only. */
  readonly reservationId?: string;
  /** Whose market it is, where a cloud has accounts that each have capacity of their own. */
  readonly account?: string;
}

/** Some offerings: those that agree in everything that is said. */
export interface OfferingPattern {
  readonly capacityType?: CapacityType;
  readonly instanceType?: string;
  /** Any of these types, where several are meant: those of a family, say. */
  readonly instanceTypes?: ReadonlySet<string>;
  readonly zone?: string;
  readonly reservationId?: string;
}

/** `spot:m5.large:zone-a`, for reserved capacity the reservation as a fourth part, and the account before all where there is one. */
export function offeringKey({ capacityType, instanceType, zone, reservationId, account }: OfferingName): string {
  const key = `${capacityType}:${instanceType}:${zone}`;
  const whole = reservationId === undefined ? key : `${key}:${reservationId}`;
  return account === undefined ? whole : `${account}/${whole}`;
}
