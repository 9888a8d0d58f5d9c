/** Present spot prices, by type and zone. */
import { type EpochMs, toDate } from '../../../platform/clock.ts';
import { type AwsApi, allPages } from '../api/aws-api.ts';

/** USD per hour by zone, by instance type. */
export type SpotPrices = ReadonlyMap<string, ReadonlyMap<string, number>>;

const PRODUCTS = ['Linux/UNIX', 'Linux/UNIX (Amazon VPC)'];

/** Reads the price history starting now: one entry per type and zone, with the present price. */
export async function readSpotPrices(api: AwsApi, now: EpochMs, signal: AbortSignal): Promise<SpotPrices> {
  const input = { StartTime: toDate(now), ProductDescriptions: PRODUCTS, MaxResults: 1000 };
  const history = await allPages(api, 'ec2:DescribeSpotPriceHistory', input, (page) => page.SpotPriceHistory, signal);
  const prices = new Map<string, Map<string, number>>();
  const newest = new Map<string, number>();
  for (const { InstanceType: type, AvailabilityZone: zone, SpotPrice: text, Timestamp: at } of history) {
    const price = Number(text);
    if (type === undefined || zone === undefined || !(price > 0)) continue;
    const key = `${type}/${zone}`;
    const time = at?.getTime() ?? 0;
    if (time < (newest.get(key) ?? Number.NEGATIVE_INFINITY)) continue;
    newest.set(key, time);
    const ofType = prices.get(type);
    if (ofType === undefined) prices.set(type, new Map([[zone, price]]));
    else ofType.set(zone, price);
  }
  return prices;
}
