/** The flags of a kubelet that bootstrap scripts pass on. */
import type { Taint } from '../../../src/apis/kubernetes/node.ts';
import { BootFailure, type BootSettings } from './boot-settings.ts';

type KubeletSettings = Pick<
  BootSettings,
  'labels' | 'taints' | 'maxPods' | 'kubeReserved' | 'systemReserved' | 'evictionHard'
>;

const KNOWN = new Set([
  'node-labels',
  'register-with-taints',
  'max-pods',
  'pods-per-core',
  'kube-reserved',
  'system-reserved',
  'eviction-hard',
  'eviction-soft',
  'eviction-soft-grace-period',
  'eviction-max-pod-grace-period',
  'image-gc-high-threshold',
  'image-gc-low-threshold',
  'cpu-cfs-quota',
]);

/** Reads flags as a kubelet would, and fails on one that it does not have. */
export function kubeletFlags(words: readonly string[]): KubeletSettings {
  const flags = new Map<string, string>();
  for (const word of words) {
    const [, name = '', value = ''] = /^--([a-z-]+)=(.*)$/s.exec(word) ?? [];
    if (!KNOWN.has(name)) throw new BootFailure(`the kubelet has no flag ${word}`);
    // Labels of a flag that is given twice add up; of others the last holds.
    const before = name === 'node-labels' ? flags.get(name) : undefined;
    flags.set(name, before === undefined ? value : `${before},${value}`);
  }
  const maxPods = flags.get('max-pods');
  return {
    labels: labelsOf(flags.get('node-labels') ?? ''),
    taints: (flags.get('register-with-taints') ?? '').split(',').filter(Boolean).map(taintOf),
    ...(maxPods === undefined ? {} : { maxPods: Number(maxPods) }),
    kubeReserved: pairs(flags.get('kube-reserved') ?? '', '='),
    systemReserved: pairs(flags.get('system-reserved') ?? '', '='),
    evictionHard: pairs(flags.get('eviction-hard') ?? '', '<'),
  };
}

/** `a=b,c=d`. */
export function labelsOf(text: string): Record<string, string> {
  return pairs(text.replace(/^"|"$/g, ''), '=');
}

/** `key=value:Effect`, or `key:Effect` where there is no value. */
export function taintOf(text: string): Taint {
  const [, key = '', value, effect] =
    /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(text) ?? [];
  if (effect === undefined) throw new BootFailure(`${text} is no taint`);
  return { key, ...(value ? { value } : {}), effect: effect as Taint['effect'] };
}

function pairs(text: string, separator: string): Record<string, string> {
  const entries = text
    .replace(/^"|"$/g, '')
    .split(',')
    .filter(Boolean)
    .map((pair) => {
      const at = pair.indexOf(separator);
      if (at < 0) throw new BootFailure(`${pair} is no pair with ${separator}`);
      return [pair.slice(0, at), pair.slice(at + 1)] as const;
    });
  return Object.fromEntries(entries);
}
