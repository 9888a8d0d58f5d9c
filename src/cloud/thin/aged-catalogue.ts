/** The instance types of a region, asked for once an hour; the last answer counts while the cloud does not give another. */
import type { InstanceType } from '../../engine/problem.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Catalogue } from '../cloud.ts';

interface Known {
  readonly instanceTypes: readonly InstanceType[];
  readonly text: string;
  readonly askedAt: number;
}

const AGE_MS = 3_600_000;

export class AgedCatalogue {
  readonly #clock: Clock;
  readonly #ask: (signal: AbortSignal) => Promise<readonly InstanceType[]>;
  #known: Known | undefined;

  constructor(clock: Clock, ask: (signal: AbortSignal) => Promise<readonly InstanceType[]>) {
    this.#clock = clock;
    this.#ask = ask;
  }

  async read(signal: AbortSignal): Promise<Catalogue> {
    const known = this.#known;
    const countedAt = this.#clock.elapsed();
    if (known !== undefined && countedAt - known.askedAt < AGE_MS) return catalogueOf(known, countedAt);
    const instanceTypes = await this.#ask(signal).catch((error) => {
      if (known === undefined || signal.aborted) throw error;
      return undefined;
    });
    if (instanceTypes === undefined) return catalogueOf(known, countedAt);
    const text = JSON.stringify(instanceTypes);
    // The same array while nothing has changed: the engine compiles it anew otherwise.
    const same = known?.text === text ? known.instanceTypes : instanceTypes;
    this.#known = { instanceTypes: same, text, askedAt: countedAt };
    return catalogueOf(this.#known, countedAt);
  }
}

function catalogueOf(known: Known | undefined, countedAt: number): Catalogue {
  return { instanceTypes: known?.instanceTypes ?? [], reservations: [], countedAt };
}
