/** What the checks of `spindrift doctor` look at. */
import type { LoadedCloud } from '../../cloud/cloud-module.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { RawAnswer } from '../../kube/raw-get.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Random } from '../../platform/random.ts';
import type { Finding } from './finding.ts';

export interface Ground {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly server: string;
  /** A path that is no object of a kind. */
  get(path: string): Promise<RawAnswer>;
  /** The clouds that are served. */
  readonly clouds: readonly LoadedCloud[];
  readonly clusterName: string;
  /** Where the Lease of the leader is; absent when there is no election. */
  readonly lease?: { readonly namespace: string; readonly name: string };
  readonly installsDefinitions: boolean;
  readonly gpuNames?: { readonly namespace: string; readonly name: string };
  readonly ownsMachines: boolean;
  readonly checksTokens: boolean;
  readonly managesItself: boolean;
  /** Whose rights are looked at; our own when absent. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly signal: AbortSignal;
}

/** Looks at one thing; rejects only when the API server cannot be talked to. */
export type Check = (ground: Ground) => Promise<readonly Finding[]>;
