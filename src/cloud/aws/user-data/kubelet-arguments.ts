/** The settings of a node as kubelet arguments, for images that take them this way. */
import type { Taint } from '../../../apis/kubernetes/node.ts';
import type { Labels } from '../../../engine/problem.ts';
import type { JoinSettings } from './join-settings.ts';

/** `--node-labels="a=b,c=d"`, sorted by key; empty without labels. */
export function nodeLabelsFlag(labels: Labels): string {
  const keys = Object.keys(labels).sort();
  return keys.length === 0 ? '' : `--node-labels="${keys.map((key) => `${key}=${labels[key]}`).join(',')}"`;
}

export function kubeletArguments({ labels, taints, kubelet, maxPods }: JoinSettings): string[] {
  return [
    nodeLabelsFlag(labels),
    `--register-with-taints="${taints.map(taintText).join(',')}"`,
    `--max-pods=${maxPods}`,
    one('--pods-per-core', kubelet.podsPerCore),
    joined('--system-reserved', kubelet.systemReserved, '='),
    joined('--kube-reserved', kubelet.kubeReserved, '='),
    joined('--eviction-hard', kubelet.evictionHard, '<'),
    joined('--eviction-soft', kubelet.evictionSoft, '<'),
    joined('--eviction-soft-grace-period', kubelet.evictionSoftGracePeriod, '='),
    one('--eviction-max-pod-grace-period', kubelet.evictionMaxPodGracePeriod),
    one('--image-gc-high-threshold', kubelet.imageGCHighThresholdPercent),
    one('--image-gc-low-threshold', kubelet.imageGCLowThresholdPercent),
    one('--cpu-cfs-quota', kubelet.cpuCFSQuota),
  ].filter((argument) => argument !== '');
}

/** `key=value:Effect`, and `key:Effect` without a value. */
function taintText({ key, value, effect }: Taint): string {
  return value === undefined || value === '' ? `${key}:${effect}` : `${key}=${value}:${effect}`;
}

function one(flag: string, value: string | number | boolean | undefined): string {
  return value === undefined ? '' : `${flag}=${value}`;
}

function joined(flag: string, values: Readonly<Record<string, string>> | undefined, separator: string): string {
  const entries = Object.entries(values ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0
    ? ''
    : `${flag}="${entries.map(([key, value]) => `${key}${separator}${value}`).join(',')}"`;
}
