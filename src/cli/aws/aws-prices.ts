/** `spindrift aws prices`: prices of instance types, with their source and age. */
import { CallGate } from '../../cloud/aws/api/call-gate.ts';
import { SdkApi } from '../../cloud/aws/api/sdk-api.ts';
import { builtInPrices } from '../../cloud/aws/built-in/built-in-prices.ts';
import { readOnDemandPrices } from '../../cloud/aws/catalogue/on-demand-prices.ts';
import { PriceBook, type PriceOrigin } from '../../cloud/aws/catalogue/price-book.ts';
import { readSpotPrices } from '../../cloud/aws/catalogue/spot-prices.ts';
import { toTimestamp } from '../../platform/clock.ts';
import { asError } from '../../platform/errors.ts';
import { seededRandom } from '../../platform/random.ts';
import { RealClock } from '../../platform/real-clock.ts';
import { textTable } from '../text-table.ts';

export interface AwsPricesOptions {
  readonly region?: string;
  readonly endpoint?: string;
  /** Only instance types whose name begins with it. */
  readonly prefix?: string;
  /** Does not ask AWS. */
  readonly builtIn: boolean;
  readonly output: 'table' | 'json';
  readonly signal: AbortSignal;
}

export interface PriceRow {
  readonly instanceType: string;
  readonly onDemand?: number;
  /** By zone. */
  readonly spot: Readonly<Record<string, number>>;
}

interface PriceReport {
  readonly region: string;
  readonly onDemand: PriceOrigin & { readonly scaled?: boolean };
  readonly spot: PriceOrigin;
  /** Price sources that failed, and why. */
  readonly notes: readonly string[];
  readonly prices: readonly PriceRow[];
}

export async function awsPrices(options: AwsPricesOptions): Promise<string> {
  const report = await read(options);
  return options.output === 'json' ? `${JSON.stringify(report, null, 2)}\n` : `${table(report)}\n`;
}

async function read({ region: given, endpoint, prefix = '', builtIn, signal }: AwsPricesOptions): Promise<PriceReport> {
  const clock = new RealClock();
  const api = new SdkApi({
    ...(given === undefined ? {} : { region: given }),
    ...(endpoint === undefined ? {} : { client: { endpoint } }),
    gate: new CallGate(clock, seededRandom('prices')),
    clock,
  });
  const region = given ?? (builtIn ? 'us-east-1' : await api.region());
  const table = builtInPrices(region);
  const book = new PriceBook(table);
  const notes: string[] = [];
  if (!builtIn) {
    const now = clock.now();
    const failed = (what: string) => (error: unknown) => {
      signal.throwIfAborted();
      notes.push(`reading ${what} failed: ${asError(error).message}`);
    };
    await Promise.all([
      readOnDemandPrices(api, region, signal).then(
        (prices) => book.setOnDemand(prices, now),
        failed('on-demand prices'),
      ),
      readSpotPrices(api, now, signal).then((prices) => book.setSpot(prices, now), failed('spot prices')),
    ]);
    await api.close();
  }
  const names = [...new Set([...book.onDemand.keys(), ...book.spot.keys()])].filter((name) => name.startsWith(prefix));
  const fromTable = book.onDemandOrigin.source === 'built-in';
  return {
    region,
    onDemand: fromTable ? { ...book.onDemandOrigin, scaled: table.scaled } : book.onDemandOrigin,
    spot: book.spotOrigin,
    notes,
    prices: names.sort().map((instanceType) => {
      const onDemand = book.onDemand.get(instanceType);
      const spot = Object.fromEntries([...(book.spot.get(instanceType) ?? [])].sort());
      return { instanceType, ...(onDemand === undefined ? {} : { onDemand }), spot };
    }),
  };
}

function table({ region, onDemand, spot, notes, prices }: PriceReport): string {
  const rows = prices.map(({ instanceType, onDemand: price, spot: zones }) => [
    instanceType,
    price === undefined ? '-' : price.toFixed(4),
    Object.entries(zones)
      .map(([zone, amount]) => `${zone.slice(region.length)} ${amount.toFixed(4)}`)
      .join('  ') || '-',
  ]);
  const scaled = onDemand.scaled === true ? ', scaled from us-east-1' : '';
  return [
    ...notes.map((note) => `note: ${note}`),
    `On-demand prices of ${region}: ${originText(onDemand)}${scaled}. Spot prices: ${originText(spot)}.`,
    '',
    textTable(['TYPE', '$/HOUR', 'SPOT BY ZONE'], rows, [1]),
  ].join('\n');
}

function originText({ source, at }: PriceOrigin): string {
  const when = at === undefined ? '' : toTimestamp(at);
  if (source === 'built-in') return `from the built-in table of ${when.slice(0, 10)}`;
  if (source === 'pricing-api') return `from the Pricing API at ${when}`;
  return source === 'spot-history' ? `from EC2 at ${when}` : 'not read';
}
