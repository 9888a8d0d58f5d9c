/**
 * What a spot machine costs. IBM Cloud has no API for it (IBM/vpc-go-sdk#152), so it is taken to be a share of the on-demand
 * price: what remains to be paid, not what is taken off.
 */

export interface SpotPricing {
  /** Percent of the on-demand price that is paid for spot: 60 means 40 % less. */
  readonly percent: number;
  /** The same for some profiles or families, by name. */
  readonly percentOf: Readonly<Record<string, number>>;
}

export const DEFAULT_SPOT_PERCENT = 60;

/** USD per hour of a spot machine. The profile's own percentage counts before that of its family. */
export function spotPrice(profile: string, onDemandPrice: number, { percent, percentOf }: SpotPricing): number {
  const [family = ''] = profile.split('-');
  return (onDemandPrice * (percentOf[profile] ?? percentOf[family] ?? percent)) / 100;
}

/** Reads `bxf=40,gx3-16x80x1l4=55`; undefined when it is not that. */
export function parsePercentOf(text: string): Readonly<Record<string, number>> | undefined {
  const pairs = text.split(',').map((pair) => /^\s*([a-z][a-z0-9-]*)\s*=\s*(\d+(?:\.\d+)?)\s*$/.exec(pair));
  const read = pairs.map((pair) => (pair === null ? undefined : ([pair[1] ?? '', Number(pair[2])] as const)));
  if (!read.every((pair) => pair !== undefined && pair[1] > 0 && pair[1] <= 100)) return undefined;
  return Object.fromEntries(read as (readonly [string, number])[]);
}
