/** Prices of machines, with their source and age. */
import type { EpochMs } from '../../../platform/clock.ts';
import type { OnDemandPrices } from './on-demand-prices.ts';
import type { SpotPrices } from './spot-prices.ts';

/** The source of prices. */
export interface PriceOrigin {
  readonly source: 'pricing-api' | 'built-in' | 'spot-history' | 'none';
  /** When they were read, or the date of the built-in table. */
  readonly at?: EpochMs;
}

export class PriceBook {
  onDemand: OnDemandPrices;
  onDemandOrigin: PriceOrigin;
  spot: SpotPrices = new Map();
  spotOrigin: PriceOrigin = { source: 'none' };
  /** Increases when prices change. */
  version = 0;

  constructor(builtIn: { readonly prices: OnDemandPrices; readonly at: EpochMs }) {
    this.onDemand = builtIn.prices;
    this.onDemandOrigin = { source: 'built-in', at: builtIn.at };
  }

  /** Sets prices that were read now. Types missing from the list keep their last price. */
  setOnDemand(prices: OnDemandPrices, at: EpochMs): void {
    this.onDemandOrigin = { source: 'pricing-api', at };
    const merged = new Map([...this.onDemand, ...prices]);
    if (sameNumbers(merged, this.onDemand)) return;
    this.onDemand = merged;
    this.version++;
  }

  setSpot(prices: SpotPrices, at: EpochMs): void {
    this.spotOrigin = { source: 'spot-history', at };
    const same =
      prices.size === this.spot.size &&
      [...prices].every(([type, zones]) => sameNumbers(zones, this.spot.get(type) ?? new Map()));
    if (same) return;
    this.spot = prices;
    this.version++;
  }
}

function sameNumbers(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}
