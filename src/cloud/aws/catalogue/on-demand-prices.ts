/** On-demand prices from the Pricing API. */
import type { Filter } from '@aws-sdk/client-pricing';
import { type AwsApi, allPages } from '../api/aws-api.ts';

/** USD per hour (CNY in China) by instance type. */
export type OnDemandPrices = ReadonlyMap<string, number>;

/** Reads the prices of Linux machines of a region: shared ones, and bare metal, which is listed as dedicated. */
export async function readOnDemandPrices(api: AwsApi, region: string, signal: AbortSignal): Promise<OnDemandPrices> {
  const lists = await Promise.all([
    products(api, region, 'Shared', 'Compute Instance', signal),
    products(api, region, 'Dedicated', 'Compute Instance (bare metal)', signal),
  ]);
  const currency = region.startsWith('cn-') ? 'CNY' : 'USD';
  const prices = new Map<string, number>();
  for (const text of lists.flat()) {
    const priced = priceOf(text, currency);
    if (priced !== undefined) prices.set(priced.instanceType, priced.price);
  }
  return prices;
}

function products(
  api: AwsApi,
  region: string,
  tenancy: string,
  family: string,
  signal: AbortSignal,
): Promise<string[]> {
  const equals = (Field: string, Value: string): Filter => ({ Type: 'TERM_MATCH', Field, Value });
  const Filters = [
    equals('regionCode', region),
    equals('serviceCode', 'AmazonEC2'),
    equals('preInstalledSw', 'NA'),
    equals('operatingSystem', 'Linux'),
    equals('capacitystatus', 'Used'),
    equals('marketoption', 'OnDemand'),
    equals('tenancy', tenancy),
    equals('productFamily', family),
  ];
  const input = { ServiceCode: 'AmazonEC2', Filters, MaxResults: 100 };
  return allPages(api, 'pricing:GetProducts', input, (page) => page.PriceList as string[] | undefined, signal);
}

interface Product {
  readonly product?: { readonly attributes?: { readonly instanceType?: string } };
  readonly terms?: { readonly OnDemand?: Readonly<Record<string, Term>> };
}
interface Term {
  readonly priceDimensions?: Readonly<Record<string, { readonly pricePerUnit?: Readonly<Record<string, string>> }>>;
}

/** Each entry of the price list is JSON in a string. A price of zero counts as none. */
function priceOf(text: string, currency: string): { instanceType: string; price: number } | undefined {
  const { product, terms } = JSON.parse(text) as Product;
  const instanceType = product?.attributes?.instanceType;
  const dimensions = Object.values(terms?.OnDemand ?? {}).flatMap((term) => Object.values(term.priceDimensions ?? {}));
  const price = dimensions
    .map(({ pricePerUnit }) => Number(pricePerUnit?.[currency] ?? 0))
    .find((amount) => amount > 0);
  return instanceType === undefined || price === undefined ? undefined : { instanceType, price };
}
