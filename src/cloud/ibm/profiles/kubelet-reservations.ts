/**
 * Resources that a node reserves for itself. The same numbers are used in planning and in the kubelet's configuration: with different
 * numbers, pods would be placed that the kubelet rejects.
 */
import type { IBMNodeClassSpec } from '../../../apis/ibm/ibm-node-class.ts';
import { milliValue, wholeValue } from '../../../apis/kubernetes/quantity.ts';

type Kubelet = NonNullable<IBMNodeClassSpec['kubelet']>;
type Amounts = Readonly<Record<string, string>>;

export interface KubeletReservations {
  readonly maxPods: number;
  readonly kubeReserved: Amounts;
  readonly systemReserved: Amounts;
  readonly evictionHard: Amounts;
}

export const DEFAULT_MAX_PODS = 110;
const MIB = 2 ** 20;

/** The reservations of a machine, for a class with these settings. */
export function kubeletReservations(vcpu: number, kubelet: Kubelet = {}): KubeletReservations {
  const perCore = kubelet.podsPerCore ?? 0;
  const most = kubelet.maxPods ?? DEFAULT_MAX_PODS;
  const maxPods = perCore > 0 ? Math.min(most, perCore * vcpu) : most;
  return {
    maxPods,
    kubeReserved: {
      cpu: `${reservedMilliCpu(vcpu)}m`,
      memory: `${255 + 11 * maxPods}Mi`,
      'ephemeral-storage': '1Gi',
      ...kubelet.kubeReserved,
    },
    systemReserved: { cpu: '100m', memory: '200Mi', ...kubelet.systemReserved },
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '10%',
      'imagefs.available': '15%',
      ...kubelet.evictionHard,
    },
  };
}

/** 6 % of the first core, 1 % of the second, 0.5 % of the next two and 0.25 % of all others, as in managed clusters. */
function reservedMilliCpu(vcpu: number): number {
  const shares = [60, 10, 5, 5];
  const first = shares.slice(0, vcpu).reduce((sum, share) => sum + share, 0);
  return Math.ceil(first + Math.max(0, vcpu - shares.length) * 2.5);
}

/** The memory, storage and CPU that pods cannot use; cpu in millicores, the rest in bytes. */
export function overheadOf(
  reservations: KubeletReservations,
  capacity: { memory: number; storage: number },
): Readonly<Record<string, number>> {
  const { kubeReserved, systemReserved, evictionHard } = reservations;
  const sum = (key: string): number => amount(kubeReserved[key], key, 0) + amount(systemReserved[key], key, 0);
  return {
    cpu: sum('cpu'),
    memory: sum('memory') + amount(evictionHard['memory.available'], 'memory', capacity.memory),
    'ephemeral-storage':
      sum('ephemeral-storage') + amount(evictionHard['nodefs.available'], 'ephemeral-storage', capacity.storage),
  };
}

/** An amount, or a percentage of the whole. */
function amount(text: string | undefined, key: string, whole: number): number {
  if (text === undefined || text === '') return 0;
  if (text.endsWith('%')) return Math.ceil((whole * Number(text.slice(0, -1))) / 100);
  return Number(key === 'cpu' ? milliValue(text) : wholeValue(text));
}

/** The guest sees less memory than the profile has: firmware and kernel use some, which is measured on joined nodes. */
export function guestMemory(memoryGiB: number, learned: number | undefined, overheadShare: number): number {
  return learned ?? Math.floor(memoryGiB * 1024 * (1 - overheadShare)) * MIB;
}
