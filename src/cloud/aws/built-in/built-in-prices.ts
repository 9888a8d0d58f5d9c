/**
 * On-demand prices for when the Pricing API has not been asked yet, or cannot be. Those of us-east-1 are AWS's list; those of
 * other regions are scaled by what an m5.large costs there, which keeps the order of types and is a few percent off.
 */
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import type { OnDemandPrices } from '../catalogue/on-demand-prices.ts';

export interface BuiltInPrices {
  readonly prices: OnDemandPrices;
  /** The day the table is of. */
  readonly at: EpochMs;
  /** Whether they are scaled from another region. */
  readonly scaled: boolean;
}

const HOME = 'us-east-1';

export async function builtInPrices(region: string): Promise<BuiltInPrices> {
  const { default: table } = await import('./on-demand-prices.json', { with: { type: 'json' } });
  const ofM5Large: Readonly<Record<string, number>> = table.usdPerHourOfM5Large;
  const factor = (ofM5Large[region] ?? table.usdPerHourOfM5Large[HOME]) / table.usdPerHourOfM5Large[HOME];
  const prices = new Map<string, number>();
  for (const [family, sizes] of Object.entries(table.usdPerHourInUsEast1)) {
    for (const [size, price] of Object.entries(sizes)) {
      prices.set(`${family}.${size}`, Math.round((price as number) * factor * 1e6) / 1e6);
    }
  }
  return { prices, at: parseTimestamp(table.asOf) ?? (0 as EpochMs), scaled: region !== HOME };
}

/** The regions that the built-in catalogue knows. */
export async function builtInRegions(): Promise<string[]> {
  const { default: table } = await import('./on-demand-prices.json', { with: { type: 'json' } });
  return Object.keys(table.usdPerHourOfM5Large);
}
