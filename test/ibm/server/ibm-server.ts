/** A local IBM Cloud: VPC, IAM, Global Catalog, Global Tagging and Resource Manager of one account and region. */
import type { Clock } from '../../../src/platform/clock.ts';
import type { Random } from '../../../src/platform/random.ts';
import { answerAccount } from './account-routes.ts';
import { Catalogue } from './catalogue-routes.ts';
import { Iam } from './iam-routes.ts';
import { instance } from './machine-on-wire.ts';
import type { ProfileShape } from './profiles.ts';
import { RegionWorld } from './region-world.ts';
import { answerVpc } from './vpc-routes.ts';
import { type WireAnswer, WireError, type WireRequest } from './wire-request.ts';

export const API_KEY = 'local-api-key';

export interface IbmServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly region?: string;
  readonly zones?: number;
  /** The address that the server is reached at, without a path. */
  readonly origin?: string;
  readonly profiles?: readonly ProfileShape[];
  readonly unpriced?: ReadonlySet<string>;
  readonly dedicated?: 'hosts' | 'hostGroups';
}

export class IbmServer {
  readonly world: RegionWorld;
  readonly iam: Iam;
  readonly catalogue: Catalogue;
  readonly #clock: Clock;
  /** The machine that asks the metadata service. */
  asking = '';
  #window = 0;
  #inWindow = 0;

  constructor(options: IbmServerOptions) {
    const { origin = 'http://ibm.test', ...rest } = options;
    this.#clock = options.clock;
    this.world = new RegionWorld({ ...rest, base: `${origin}/v1` });
    this.iam = new Iam({ clock: options.clock, apiKey: API_KEY });
    const { region, profiles } = this.world;
    this.catalogue = new Catalogue({
      region,
      profiles,
      ...(options.unpriced === undefined ? {} : { unpriced: options.unpriced }),
    });
  }

  /** Never throws: what goes wrong is an answer. */
  answer(request: WireRequest): WireAnswer {
    try {
      return this.#answer(request);
    } catch (error) {
      if (error instanceof WireError) return error.answer;
      return new WireError(500, 'internal_error', String(error)).answer;
    }
  }

  #answer(request: WireRequest): WireAnswer {
    const { world } = this;
    const token = this.iam.answer(request);
    if (token !== undefined) return token;
    const metadata = this.#metadata(request);
    if (metadata !== undefined) return metadata;
    const priced = this.catalogue.answer(request);
    if (priced !== undefined) return priced;
    world.requests.push(`${request.method} ${request.path}`);
    if (!this.iam.allows(request))
      throw new WireError(401, 'not_authenticated', 'The token is missing, wrong or expired');
    this.#limit();
    const fault = world.faults.before?.(request);
    if (fault !== undefined) throw new WireError(fault.status, fault.code, `refused by the test: ${fault.code}`);
    return answerAccount(world, request) ?? answerVpc(world, request);
  }

  /** What a machine hears about itself: it is asked without knowing its name. */
  #metadata({ method, path, headers }: WireRequest): WireAnswer | undefined {
    if (method !== 'GET' || path !== '/metadata/v1/instance') return undefined;
    if (headers.authorization !== 'Bearer instance-identity')
      throw new WireError(401, 'not_authenticated', 'no identity');
    const asking = this.world.instances.get(this.asking);
    if (asking === undefined) throw new WireError(404, 'not_found', 'no machine asks');
    const { vpc, image, ...rest } = instance(this.world, asking);
    return { status: 200, body: { vpc, image, ...rest } };
  }

  #limit(): void {
    const window = Math.floor(this.#clock.elapsed() / 1000);
    if (window !== this.#window) this.#inWindow = 0;
    this.#window = window;
    if (++this.#inWindow > this.world.faults.requestsPerSecond)
      throw new WireError(429, 'rate_limit_exceeded', 'Too many requests', { retryAfter: 1 });
  }
}
