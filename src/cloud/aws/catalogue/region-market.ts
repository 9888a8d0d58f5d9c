/**
 * The shapes and prices of a region, read on first use and then at intervals. If AWS does not answer, the last values stay. Before the
 * first answer, on-demand prices are those of the built-in table.
 */
import type { Clock } from '../../../platform/clock.ts';
import { asError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { CloudController } from '../../cloud.ts';
import type { AwsApi } from '../api/aws-api.ts';
import { readOnDemandPrices } from './on-demand-prices.ts';
import type { PriceBook } from './price-book.ts';
import { readShapes, type Shapes } from './shapes.ts';
import { readSpotPrices } from './spot-prices.ts';

const SHAPES_MS = 6 * 60 * 60_000;
const ON_DEMAND_MS = 12 * 60 * 60_000;
const SPOT_MS = 5 * 60_000;
const AFTER_FAILURE_MS = 30_000;

export interface RegionMarketOptions {
  readonly api: AwsApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly region: string;
  readonly prices: PriceBook;
  /** The Pricing API cannot be reached: only the built-in table is used. */
  readonly isolated: boolean;
}

export class RegionMarket implements CloudController {
  readonly name = 'aws.market';
  readonly prices: PriceBook;
  readonly #options: RegionMarketOptions;
  #shapes: Shapes = new Map();
  #shapesVersion = 0;
  #loaded: Promise<void> | undefined;

  constructor(options: RegionMarketOptions) {
    this.#options = options;
    this.prices = options.prices;
  }

  get shapes(): Shapes {
    return this.#shapes;
  }

  get shapesVersion(): number {
    return this.#shapesVersion;
  }

  /** Resolves when shapes and spot prices have been read once; on-demand prices may follow later. */
  load(signal: AbortSignal): Promise<void> {
    this.#loaded ??= this.#loadOnce(signal).catch((error) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  /** Refreshes them until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#repeat('instance types', SHAPES_MS, () => this.refreshShapes(signal), signal),
      this.#repeat('spot prices', SPOT_MS, () => this.refreshSpot(signal), signal),
      this.#repeat('on-demand prices', ON_DEMAND_MS, () => this.refreshOnDemand(signal), signal),
    ]);
  }

  async refreshShapes(signal: AbortSignal): Promise<void> {
    const { api, logger } = this.#options;
    const shapes = await readShapes(api, signal);
    const text = (of: Shapes): string =>
      JSON.stringify([...of].map(([name, { zones }]) => [name, [...zones].sort()]).sort());
    if (text(shapes) === text(this.#shapes)) return;
    const before = this.#shapes;
    this.#shapes = shapes;
    this.#shapesVersion++;
    logger.info('instance types have changed', {
      types: shapes.size,
      new: [...shapes.keys()].filter((name) => !before.has(name)).length,
      gone: [...before.keys()].filter((name) => !shapes.has(name)).length,
    });
  }

  async refreshSpot(signal: AbortSignal): Promise<void> {
    const { api, clock } = this.#options;
    const now = clock.now();
    this.prices.setSpot(await readSpotPrices(api, now, signal), now);
  }

  async refreshOnDemand(signal: AbortSignal): Promise<void> {
    const { api, clock, region, isolated } = this.#options;
    if (isolated) return;
    const prices = await readOnDemandPrices(api, region, signal);
    this.prices.setOnDemand(prices, clock.now());
  }

  /** Without spot prices there is no spot, but everything else works: their failure does not delay the rest. */
  async #loadOnce(signal: AbortSignal): Promise<void> {
    const spot = this.refreshSpot(signal).catch((error) => this.#notRefreshed('spot prices', error, signal));
    await Promise.all([this.refreshShapes(signal), spot]);
  }

  async #repeat(what: string, everyMs: number, refresh: () => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const failed = await refresh().then(
        () => false,
        (error) => {
          this.#notRefreshed(what, error, signal);
          return true;
        },
      );
      await this.#options.clock.sleep(failed ? AFTER_FAILURE_MS : everyMs, signal).catch(() => undefined);
    }
  }

  #notRefreshed(what: string, error: unknown, signal: AbortSignal): void {
    if (!signal.aborted) this.#options.logger.warn('market not refreshed', { what, error: asError(error) });
  }
}
