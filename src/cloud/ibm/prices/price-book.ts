/** On-demand prices by region: read from the Global Catalog periodically. If it does not answer, the last prices stay. */
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { MachineShape } from '../profiles/machine-shape.ts';
import { builtInPrice } from './built-in-prices.ts';

export interface PriceBookOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly read: (region: string, signal: AbortSignal) => Promise<ReadonlyMap<string, number>>;
  readonly refreshMs?: number;
}

interface RegionPrices {
  prices: ReadonlyMap<string, number> | undefined;
  readAt: number;
  reading: boolean;
}

const REFRESH_MS = 12 * 3_600_000;
/** After a failure, it tries again sooner. */
const RETRY_MS = 300_000;

export class PriceBook {
  readonly #options: PriceBookOptions;
  readonly #regions = new Map<string, RegionPrices>();
  /** Increases whenever a price may have changed. */
  version = 0;

  constructor(options: PriceBookOptions) {
    this.#options = options;
  }

  /** USD per hour on demand. From the built-in table until the catalogue has been read; undefined if unknown. */
  onDemand(region: string, shape: MachineShape): number | undefined {
    const prices = this.#regions.get(region)?.prices;
    return prices === undefined ? builtInPrice(shape) : prices.get(shape.name);
  }

  /** Refreshes outdated prices of a region. Never rejects: on failure the old prices stay. */
  async refresh(region: string, signal: AbortSignal): Promise<void> {
    const { clock, logger, read, refreshMs = REFRESH_MS } = this.#options;
    const known = this.#regions.get(region) ?? { prices: undefined, readAt: Number.NEGATIVE_INFINITY, reading: false };
    this.#regions.set(region, known);
    if (known.reading || clock.elapsed() - known.readAt < refreshMs) return;
    known.reading = true;
    try {
      const prices = await read(region, signal);
      // A catalogue without any price is broken.
      if (prices.size === 0) throw new Error('the catalogue has no prices');
      known.prices = prices;
      known.readAt = clock.elapsed();
      this.version++;
    } catch (error) {
      if (signal.aborted) return;
      known.readAt = clock.elapsed() - refreshMs + RETRY_MS;
      logger.warn('prices could not be read: those known before stay', { region, error });
    } finally {
      known.reading = false;
    }
  }

  /** Refreshes the regions until the signal aborts. */
  async run(regions: () => readonly string[], signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      for (const region of regions()) await this.refresh(region, signal);
      await clock.sleep(60_000, signal).catch(() => {});
    }
  }
}
