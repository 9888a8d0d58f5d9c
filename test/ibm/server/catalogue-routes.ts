/**
 * The Global Catalog as far as prices of instance profiles go: profiles, the deployments of their plans in a region, and the
 * prices of a deployment. Two generations meter in two ways, and the list is paged only by `_offset` and `_limit`.
 */
import type { ProfileShape } from './profiles.ts';
import { type WireAnswer, WireError, type WireRequest } from './wire-request.ts';

const GEN2_PLAN = 'a736a57f-0584-474f-8411-55dc7d9dc811';
const FLEX_PLAN = 'b2f7c1de-1111-4c22-9a33-5d5d5d5d5d5d';
const VCPU_HOUR = 0.0256;
const MEMORY_HOUR = 0.00621;
const GPU_HOUR: Readonly<Record<string, number>> = { l4: 0.65, h100: 6.9, mi300x: 5.2, gaudi3: 3.9 };

/** What the catalogue asks for a profile, in USD per hour. */
export function listPrice({ vcpu, memoryGiB, gpu }: ProfileShape): number {
  return vcpu * VCPU_HOUR + memoryGiB * MEMORY_HOUR + (gpu === undefined ? 0 : gpu.count * (GPU_HOUR[gpu.model] ?? 1));
}

export interface CatalogueOptions {
  readonly region: string;
  readonly profiles: readonly ProfileShape[];
  /** Profiles that the catalogue knows no price of. */
  readonly unpriced?: ReadonlySet<string>;
}

export class Catalogue {
  readonly #options: CatalogueOptions;
  /** Answers everything with an error while it is down. */
  down = false;
  /** Times all amounts. */
  factor = 1;

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  answer({ method, path, query }: WireRequest): WireAnswer | undefined {
    if (method !== 'GET' || !path.startsWith('/api/v1')) return undefined;
    if (this.down) throw new WireError(503, 'service_error', 'The catalog is not available');
    if (path === '/api/v1')
      return this.#page(
        query,
        this.#options.profiles.map((shape) => this.#entry(shape)),
      );
    const [, encoded = '', rest = ''] = /^\/api\/v1\/([^/]+)\/(deployment|pricing)$/.exec(path) ?? [];
    const id = decodeURIComponent(encoded);
    if (rest === 'deployment') return this.#page(query, this.#deployments(id));
    if (rest === 'pricing') return this.#pricing(id);
    throw new WireError(404, 'not_found', `There is no ${path}`);
  }

  #entry(shape: ProfileShape) {
    const plan = this.#planOf(shape);
    return {
      id: `is.instance.profile-${shape.name}`,
      name: shape.name,
      kind: 'instance.profile',
      active: true,
      metadata: {
        other: {
          profile: {
            name: shape.name,
            resource_type: 'instance',
            measures: [
              {
                component: 'instance',
                deployments: [
                  { type: 'multi-tenant', plan, meters: [{ unit: 'VCPU_HOURS', quantity: shape.vcpu }] },
                  { type: 'dedicated', plan: 'dedicated-plan', meters: [] },
                ],
              },
            ],
          },
        },
      },
    };
  }

  #planOf(shape: ProfileShape): string {
    return shape.status === 'previous' ? GEN2_PLAN : FLEX_PLAN;
  }

  #deployments(plan: string) {
    const { region, profiles, unpriced } = this.#options;
    return profiles
      .filter((shape) => this.#planOf(shape) === plan && !(unpriced?.has(shape.name) ?? false))
      .flatMap((shape) => [
        {
          id: `${shape.name}:${region}`,
          name: plan === GEN2_PLAN ? `${shape.name}-${region}` : `${shape.name}-${region}-rc`,
          kind: 'deployment',
          active: true,
          parent_id: plan,
          tags: ['is.composite'],
          metadata: { deployment: { location: region } },
        },
        {
          id: `${shape.name}:eu-de`,
          name: `${shape.name}-eu-de`,
          kind: 'deployment',
          active: true,
          parent_id: plan,
          tags: ['is.composite'],
          metadata: { deployment: { location: 'eu-de' } },
        },
      ]);
  }

  #pricing(id: string): WireAnswer {
    const [name] = id.split(':');
    const shape = this.#options.profiles.find((one) => one.name === name);
    if (shape === undefined) throw new WireError(404, 'not_found', `There is no pricing of ${id}`);
    const parts: readonly (readonly [unit: string, price: number, metricId: string])[] =
      this.#planOf(shape) === GEN2_PLAN
        ? [
            ['VCPU_HOURS', shape.vcpu * VCPU_HOUR, 'part-is.vcpu'],
            ['MEMORY_HOURS', shape.memoryGiB * MEMORY_HOUR, 'part-is.memory'],
          ]
        : [['INSTANCE_HOURS_MULTI_TENANT', listPrice(shape), `part-is.instance-hours-${shape.name}`]];
    const metrics = [...parts, ['WINDOWS_HOURS', 99, 'part-is.windows'] as const].map(([unit, price, metricId]) => ({
      metric_id: metricId,
      charge_unit_name: unit,
      charge_unit_quantity: 1,
      tier_model: 'Linear Tier',
      amounts: [
        { country: 'DEU', currency: 'EUR', prices: [{ quantity_tier: 1, price: price * this.factor * 0.9 }] },
        { country: 'USA', currency: 'USD', prices: [{ quantity_tier: 1, price: price * this.factor }] },
      ],
    }));
    return { status: 200, body: { deployment_id: id, metrics } };
  }

  /** `limit` without its underscore is ignored, as it is there. */
  #page(query: URLSearchParams, all: readonly unknown[]): WireAnswer {
    const offset = Number(query.get('_offset') ?? 0);
    const limit = Number(query.get('_limit') ?? 50);
    const resources = all.slice(offset, offset + limit);
    return { status: 200, body: { offset, limit, count: all.length, resource_count: resources.length, resources } };
  }
}
