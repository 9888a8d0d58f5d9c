import type { Taint } from '../../../src/apis/kubernetes/node.ts';

/** What a machine's user data tells its kubelet. A machine that is told less does not join. */
export interface BootSettings {
  readonly clusterName: string;
  readonly endpoint: string;
  /** Base64 of the cluster's certificate authority. */
  readonly certificateAuthority: string;
  /** Of services; only nodeadm asks for it. */
  readonly serviceCidr?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly maxPods?: number;
  readonly clusterDns?: readonly string[];
  readonly kubeReserved: Readonly<Record<string, string>>;
  readonly systemReserved: Readonly<Record<string, string>>;
  readonly evictionHard: Readonly<Record<string, string>>;
  /** Whether instance store disks are joined and used for pods. */
  readonly usesInstanceStore: boolean;
}

/** Why a machine cannot join, in the words of the program on it that gave up. */
export class BootFailure extends Error {}
