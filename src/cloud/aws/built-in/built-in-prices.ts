/**
 * On-demand prices for use before or without the Pricing API. Those of us-east-1 are AWS's list prices. Those of other regions are scaled
 * by the price of an m5.large there, which keeps the order of types and is a few percent off.
 */
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import type { OnDemandPrices } from '../catalogue/on-demand-prices.ts';
import { builtInTable } from './built-in-table.ts';

export interface BuiltInPrices {
  readonly prices: OnDemandPrices;
  /** The date of the table. */
  readonly at: EpochMs;
  /** Whether they are scaled from another region. */
  readonly scaled: boolean;
}

interface Table {
  readonly asOf: string;
  readonly usdPerHourOfM5Large: Readonly<Record<string, number>>;
  /** By family, by size. */
  readonly usdPerHourInUsEast1: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const HOME = 'us-east-1';
/** The typical share of the on-demand price that spot costs: half of all spot markets are cheaper. Real prices need a call. */
export const BUILT_IN_SPOT_SHARE = 0.4;

export function builtInPrices(region: string): BuiltInPrices {
  const { asOf, usdPerHourOfM5Large: m5Large, usdPerHourInUsEast1 } = builtInTable<Table>('on-demand-prices');
  const home = m5Large[HOME] ?? 1;
  const factor = (m5Large[region] ?? home) / home;
  const prices = new Map<string, number>();
  for (const [family, sizes] of Object.entries(usdPerHourInUsEast1)) {
    for (const [size, price] of Object.entries(sizes)) {
      prices.set(`${family}.${size}`, Math.round(price * factor * 1e6) / 1e6);
    }
  }
  return { prices, at: parseTimestamp(asOf) ?? (0 as EpochMs), scaled: region !== HOME };
}

/** The regions that the built-in catalogue knows. */
export function builtInRegions(): readonly string[] {
  return Object.keys(builtInTable<Table>('on-demand-prices').usdPerHourOfM5Large);
}
