/** The client and the profiles of each region. Profiles are refreshed periodically. */
import type { Clock } from '../../platform/clock.ts';
import type { ServiceOpener } from './api/authentication.ts';
import { VpcClient } from './api/vpc-client.ts';
import { type MachineShape, machineShape } from './profiles/machine-shape.ts';

export interface RegionsOptions {
  readonly clock: Clock;
  readonly open: ServiceOpener;
  /** `{region}` is replaced by the region. */
  readonly vpcUrl: string;
  readonly version?: string | undefined;
}

interface Known {
  readonly vpc: VpcClient;
  shapes: readonly MachineShape[] | undefined;
  readAt: number;
}

/** Profiles change a few times a year. */
const MAX_AGE_MS = 3_600_000;

export class Regions {
  readonly #options: RegionsOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: RegionsOptions) {
    this.#options = options;
  }

  /** The client of a region. */
  vpc(region: string): VpcClient {
    return this.#of(region).vpc;
  }

  /** The profiles of a region. The same array while they are unchanged; the last known ones if the cloud does not answer. */
  async shapes(region: string, signal: AbortSignal): Promise<readonly MachineShape[]> {
    const { clock } = this.#options;
    const known = this.#of(region);
    if (known.shapes !== undefined && clock.elapsed() - known.readAt < MAX_AGE_MS) return known.shapes;
    try {
      const profiles = await known.vpc.listProfiles(signal);
      const shapes = profiles.flatMap((profile) => machineShape(profile) ?? []);
      if (JSON.stringify(shapes) !== JSON.stringify(known.shapes)) known.shapes = shapes;
      known.readAt = clock.elapsed();
    } catch (error) {
      if (signal.aborted || known.shapes === undefined) throw error;
    }
    return known.shapes ?? [];
  }

  /** A profile that has already been read. */
  shape(region: string, name: string): MachineShape | undefined {
    return this.#known.get(region)?.shapes?.find((shape) => shape.name === name);
  }

  #of(region: string): Known {
    const known = this.#known.get(region);
    if (known !== undefined) return known;
    const { clock, open, vpcUrl, version } = this.#options;
    const service = open(vpcUrl.replace('{region}', region));
    const fresh: Known = {
      vpc: new VpcClient({ service, clock, region, ...(version === undefined ? {} : { version }) }),
      shapes: undefined,
      readAt: Number.NEGATIVE_INFINITY,
    };
    this.#known.set(region, fresh);
    return fresh;
  }
}
