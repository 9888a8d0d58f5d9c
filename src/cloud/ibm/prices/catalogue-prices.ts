/**
 * On-demand prices from the Global Catalog, which needs no credentials. Four steps: profiles name their plan; a plan has one deployment per
 * profile and region; a deployment has prices; the sum of their parts is the price per hour.
 */
import type { IbmApi } from '../api/ibm-api.ts';

export interface CataloguePricesOptions {
  readonly api: IbmApi;
  /** Concurrent reads of deployment prices. */
  readonly parallel?: number;
}

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly active?: boolean;
  readonly parent_id?: string;
  readonly tags?: readonly string[];
  readonly metadata?: {
    readonly deployment?: { readonly location?: string };
    readonly other?: {
      readonly profile?: {
        readonly resource_type?: string;
        readonly measures?: readonly {
          readonly component?: string;
          readonly deployments?: readonly { readonly type?: string; readonly plan?: string }[];
        }[];
      };
    };
  };
}

interface Pricing {
  readonly metrics?: readonly Metric[];
}

interface Metric {
  readonly metric_id?: string;
  readonly charge_unit_name?: string;
  readonly charge_unit_quantity?: number | string;
  readonly tier_model?: string;
  readonly amounts?: readonly {
    readonly country?: string;
    readonly currency?: string;
    readonly prices?: readonly { readonly quantity_tier?: number; readonly price?: number }[];
  }[];
}

const PAGE = 100;
const PARALLEL = 16;

export class CataloguePrices {
  readonly #api: IbmApi;
  readonly #parallel: number;

  constructor({ api, parallel = PARALLEL }: CataloguePricesOptions) {
    this.#api = api;
    this.#parallel = parallel;
  }

  /** USD per hour by profile, in a region. Profiles without a price are missing. */
  async onDemand(region: string, signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const entries = await this.#all('', { q: 'kind:instance.profile', include: '*' }, signal);
    const plans = new Set(entries.flatMap((entry) => planOf(entry) ?? []));
    const profiles = new Set(entries.map(({ name }) => name));
    const deployments: { profile: string; id: string }[] = [];
    for (const plan of plans)
      for (const one of await this.#all(`/${encodeURIComponent(plan)}/deployment`, { q: region }, signal)) {
        const profile = profileOf(one, plan, region);
        if (profile !== undefined && profiles.has(profile)) deployments.push({ profile, id: one.id });
      }
    const prices = new Map<string, number>();
    const waiting = [...deployments];
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const path = `/${encodeURIComponent(next.id)}/pricing`;
        const call = { method: 'GET', path, query: { deployment_region: region } } as const;
        const price = hourlyPrice(next.profile, await this.#api.call<Pricing>('GetPricing', call, signal));
        if (price !== undefined) prices.set(next.profile, price);
      }
    };
    await Promise.all(Array.from({ length: this.#parallel }, work));
    return prices;
  }

  async #all(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Entry[]> {
    const all: Entry[] = [];
    for (;;) {
      // Without the underscores, offset and limit are ignored.
      const page = { ...query, complete: 'true', _offset: all.length, _limit: PAGE };
      const call = { method: 'GET', path, query: page } as const;
      const { resources, count } = await this.#api.call<{ resources?: readonly Entry[]; count?: number }>(
        'ListCatalogEntries',
        call,
        signal,
      );
      all.push(...(resources ?? []));
      if ((resources ?? []).length === 0 || all.length >= (count ?? 0)) return all;
    }
  }
}

/** The plan under which a profile is sold on shared hosts. */
function planOf({ metadata }: Entry): string | undefined {
  const profile = metadata?.other?.profile;
  if (profile?.resource_type !== 'instance') return undefined;
  const measure = profile.measures?.find(({ component }) => component === 'instance');
  return measure?.deployments?.find(({ type }) => type === 'multi-tenant')?.plan;
}

/** The profile that a deployment sells in the region. Its name is `<profile>-<region>`, with `-rc` if it is metered per machine. */
function profileOf(
  { name, parent_id, active, tags, metadata }: Entry,
  plan: string,
  region: string,
): string | undefined {
  if (parent_id !== plan || active === false || tags?.includes('is.composite') !== true) return undefined;
  if (metadata?.deployment?.location !== region) return undefined;
  for (const ending of [`-${region}-rc`, `-${region}`]) if (name.endsWith(ending)) return name.slice(0, -ending.length);
  return undefined;
}

/** Parts of a machine's price, without its operating system. */
const PARTS = /^(VCPU|MEMORY|IS_STORAGE_GIGABYTE|IS_LARGE_STORAGE_GIGABYTE|INSTANCE)_HOURS(_MULTI_TENANT)?$/;
const GPU_PART = /^[A-Z0-9]*\d[A-Z0-9]*_HOURS$/;

/** The sum of the parts, whose amounts already include their quantities; undefined without a price in USD. */
export function hourlyPrice(profile: string, { metrics = [] }: Pricing): number | undefined {
  const whole = metrics.find(({ metric_id }) => metric_id === `part-is.instance-hours-${profile}`);
  const parts =
    whole === undefined
      ? metrics.filter(({ charge_unit_name = '' }) => PARTS.test(charge_unit_name) || GPU_PART.test(charge_unit_name))
      : [whole];
  const amounts = parts.flatMap((part) => amountOf(part) ?? []);
  return amounts.length === 0 ? undefined : amounts.reduce((sum, amount) => sum + amount, 0);
}

function amountOf({ charge_unit_quantity, tier_model, amounts = [] }: Metric): number | undefined {
  if (Number(charge_unit_quantity ?? 1) !== 1) return undefined;
  if (tier_model !== undefined && !tier_model.toLowerCase().startsWith('linear')) return undefined;
  const amount = amounts.find(({ country, currency }) => country === 'USA' && currency === 'USD');
  return amount?.prices?.find(({ quantity_tier }) => quantity_tier === 1)?.price;
}
