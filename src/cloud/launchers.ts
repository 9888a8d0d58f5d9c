/** The launchers of all clouds, for one term of leadership. */
import { LABEL_NODE_POOL } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { RankedOffering } from '../engine/solution.ts';
import type { Clock, EpochMs } from '../platform/clock.ts';
import { type CallMeasure, UNMEASURED } from './call-measure.ts';
import type { EnabledClouds } from './clouds.ts';
import type { OpenCloud } from './enabled-cloud.ts';
import { type Launched, Launcher } from './launcher.ts';

export interface LaunchersOptions {
  readonly clouds: Pick<EnabledClouds, 'of'>;
  readonly clock: Clock;
  readonly measure?: CallMeasure;
}

export class Launchers {
  readonly #options: LaunchersOptions;
  readonly #startedAt: EpochMs;
  /** By the name of the cloud. */
  readonly #launchers = new Map<string, Launcher>();
  /** UIDs of claims that this term created and has not launched yet. */
  readonly #made = new Set<string>();

  constructor(options: LaunchersOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
  }

  /** This term has created the claim, so no other process can have launched it. */
  made({ metadata }: NodeClaim): void {
    this.#made.add(metadata.uid ?? '');
  }

  /** Launches a claim in its cloud, from the best of these offerings that has capacity. */
  async launch(claim: NodeClaim, offerings: readonly RankedOffering[], signal: AbortSignal): Promise<Launched> {
    const { nodeClassRef } = claim.spec;
    const enabled = this.#options.clouds.of(nodeClassRef);
    const { cloud, market } = enabled.opened();
    const nodeClass = enabled.readyNodeClass(nodeClassRef.name);
    const known = this.#launchers.get(cloud.name);
    const launcher = known ?? this.#launcher({ cloud, market });
    this.#launchers.set(cloud.name, launcher);
    const pool = claim.metadata.labels?.[LABEL_NODE_POOL] ?? '';
    const { measure = UNMEASURED } = this.#options;
    return measure({ method: 'Create', cloud: cloud.name, pool }, () =>
      launcher.launch(claim, nodeClass, offerings, signal),
    );
  }

  #launcher({ cloud, market }: Pick<OpenCloud, 'cloud' | 'market'>): Launcher {
    const { clock } = this.#options;
    const isNew = ({ metadata }: NodeClaim): boolean => this.#made.has(metadata.uid ?? '');
    return new Launcher({ cloud, market, clock, startedAt: this.#startedAt, isNew });
  }

  /** The claim is gone, or the outcome of its launch is written on it. */
  forget(uid: string): void {
    this.#made.delete(uid);
    for (const launcher of this.#launchers.values()) launcher.forget(uid);
  }
}
