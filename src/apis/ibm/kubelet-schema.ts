/** The kubelet settings of an IBMNodeClass, written to machines and subtracted from allocatable resources. */
import type { Rule } from '../schema/json-schema.ts';
import { boolean, integer, list, map, object, type Schema, text } from '../schema/schema.ts';

const SIGNALS = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
];
const RESERVED = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

function amounts(
  field: string,
  description: string,
  keys: readonly string[],
): Schema<Readonly<Record<string, string>>> {
  const negative: Rule = { rule: "self.all(x, !self[x].startsWith('-'))", message: `${field} cannot be negative` };
  return map(description, text('An amount, or a share in percent.'), { rules: [known(field, keys), negative] });
}

function known(field: string, keys: readonly string[]): Rule {
  const values = keys.map((key) => `'${key}'`).join(',');
  return { rule: `self.all(x, x in [${values}])`, message: `${field} knows ${keys.join(', ')}` };
}

const count = (description: string): Schema<number> => integer(description, { format: 'int32', minimum: 0 });
const percent = (description: string): Schema<number> =>
  integer(description, { format: 'int32', minimum: 0, maximum: 100 });

export const IBM_KUBELET = object(
  'Settings of the kubelet.',
  {
    clusterDNS: list('The addresses of the cluster DNS; defaults to the Service kube-dns.', text('An address.')),
    maxPods: count('The maximum number of pods per node.'),
    podsPerCore: count('The maximum number of pods per vCPU; 0 means no limit.'),
    systemReserved: amounts('systemReserved', 'Resources reserved for the operating system.', RESERVED),
    kubeReserved: amounts('kubeReserved', 'Resources reserved for the kubelet and the container runtime.', RESERVED),
    evictionHard: amounts('evictionHard', 'Eviction thresholds; when less is free, pods are evicted at once.', SIGNALS),
    evictionSoft: amounts(
      'evictionSoft',
      'Soft eviction thresholds; when less is free for the grace period, pods are evicted.',
      SIGNALS,
    ),
    evictionSoftGracePeriod: map('The grace period of each soft eviction threshold.', text('A time such as 1m30s.'), {
      rules: [known('evictionSoftGracePeriod', SIGNALS)],
    }),
    evictionMaxPodGracePeriod: count(
      'The maximum termination grace period of pods evicted by a soft threshold, in seconds.',
    ),
    imageGCHighThresholdPercent: percent('Images are removed when the disk is fuller than this.'),
    imageGCLowThresholdPercent: percent('Images are removed until the disk is no fuller than this.'),
    cpuCFSQuota: boolean('Whether CPU limits of containers are enforced.'),
  },
  {
    rules: [
      {
        rule: 'has(self.imageGCHighThresholdPercent) && has(self.imageGCLowThresholdPercent) ? self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent : true',
        message: 'imageGCHighThresholdPercent must be above imageGCLowThresholdPercent',
      },
      {
        rule: 'has(self.evictionSoft) ? has(self.evictionSoftGracePeriod) && self.evictionSoft.all(e, e in self.evictionSoftGracePeriod) : true',
        message: 'each signal of evictionSoft needs a time in evictionSoftGracePeriod',
      },
      {
        rule: 'has(self.evictionSoftGracePeriod) ? has(self.evictionSoft) && self.evictionSoftGracePeriod.all(e, e in self.evictionSoft) : true',
        message: 'each signal of evictionSoftGracePeriod needs a threshold in evictionSoft',
      },
    ],
  },
);
