/**
 * The price of a spot machine. IBM Cloud has no API for it (IBM/vpc-go-sdk#152), so it is a configured percentage of the on-demand price:
 * the part to pay, not the discount.
 */

export interface SpotPricing {
  /** Percent of the on-demand price that is paid for spot: 60 means 40 % less. */
  readonly percent: number;
  /** The same for single profiles or families, by name. */
  readonly percentOf: Readonly<Record<string, number>>;
}

export const DEFAULT_SPOT_PERCENT = 60;

/** USD per hour of a spot machine. The profile's percentage overrides that of its family. */
export function spotPrice(profile: string, onDemandPrice: number, { percent, percentOf }: SpotPricing): number {
  const [family = ''] = profile.split('-');
  return (onDemandPrice * (percentOf[profile] ?? percentOf[family] ?? percent)) / 100;
}

/** Parses `bxf=40,gx3-16x80x1l4=55`; undefined if it is invalid. */
export function parsePercentOf(text: string): Readonly<Record<string, number>> | undefined {
  const pairs = text.split(',').map((pair) => /^\s*([a-z][a-z0-9-]*)\s*=\s*(\d+(?:\.\d+)?)\s*$/.exec(pair));
  const read = pairs.map((pair) => (pair === null ? undefined : ([pair[1] ?? '', Number(pair[2])] as const)));
  if (!read.every((pair) => pair !== undefined && pair[1] > 0 && pair[1] <= 100)) return undefined;
  return Object.fromEntries(read as (readonly [string, number])[]);
}
