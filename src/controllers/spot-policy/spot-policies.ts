import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { SpotPolicy } from '../../apis/spindrift/spot-policy.ts';
import type { Informer } from '../../kube/informer.ts';
import { DEFAULT_SPOT_SETTINGS, type SpotSettings, settingsFor } from './spot-settings.ts';

export interface SpotPoliciesOptions {
  readonly spotPolicies: Informer<SpotPolicy>;
  readonly nodePools: Informer<NodePool>;
}

/** The spot settings of each NodePool, from the present SpotPolicies. */
export class SpotPolicies {
  readonly #options: SpotPoliciesOptions;
  readonly #known = new Map<string, SpotSettings>();

  constructor(options: SpotPoliciesOptions) {
    this.#options = options;
    const forget = (): void => this.#known.clear();
    options.spotPolicies.addHandler({ added: forget, updated: forget, deleted: forget });
    options.nodePools.addHandler({ added: forget, updated: forget, deleted: forget });
  }

  /** The settings of a NodePool; defaults if no policy selects it. */
  for(pool: string): SpotSettings {
    const known = this.#known.get(pool);
    if (known !== undefined) return known;
    const settings = this.#read(pool);
    this.#known.set(pool, settings);
    return settings;
  }

  #read(name: string): SpotSettings {
    const { spotPolicies, nodePools } = this.#options;
    const pool = nodePools.get(name);
    return pool === undefined ? DEFAULT_SPOT_SETTINGS : settingsFor(pool, spotPolicies.list());
  }
}
