/** The input of the checks of `spindrift doctor`. */
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
  /** Asks for a path of the API server that is not an object, such as `/version`. */
  get(path: string): Promise<RawAnswer>;
  /** The enabled clouds. */
  readonly clouds: readonly LoadedCloud[];
  readonly clusterName: string;
  /** Where the Lease of the leader is; absent when there is no election. */
  readonly lease?: { readonly namespace: string; readonly name: string };
  readonly installsDefinitions: boolean;
  readonly gpuNames?: { readonly namespace: string; readonly name: string };
  readonly ownMachines: readonly string[];
  readonly checksTokens: boolean;
  readonly writesDeletionCost: boolean;
  readonly keepsReplicas: boolean;
  readonly managesItself: boolean;
  /** The account whose rights are checked; that of the kubeconfig when absent. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly signal: AbortSignal;
}

/** One check; rejects only when the API server cannot be reached. */
export type Check = (ground: Ground) => Promise<readonly Finding[]>;
