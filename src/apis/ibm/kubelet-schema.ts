/** What an IBMNodeClass says to the kubelet; the same is written on the machine and taken off what a node has for pods. */
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
    clusterDNS: list(
      'The addresses of the cluster DNS; the Service kube-dns when it is not given.',
      text('An address.'),
    ),
    maxPods: count('The most pods a node may have.'),
    podsPerCore: count('The most pods a node may have for each vCPU; 0 is no limit.'),
    systemReserved: amounts('systemReserved', 'What the system keeps for itself.', RESERVED),
    kubeReserved: amounts('kubeReserved', 'What kubelet and container runtime keep for themselves.', RESERVED),
    evictionHard: amounts('evictionHard', 'What must be left on a node; below it pods are evicted at once.', SIGNALS),
    evictionSoft: amounts(
      'evictionSoft',
      'What should be left on a node; below it pods are evicted after a while.',
      SIGNALS,
    ),
    evictionSoftGracePeriod: map('How long each soft threshold is waited for.', text('A time such as 1m30s.'), {
      rules: [known('evictionSoftGracePeriod', SIGNALS)],
    }),
    evictionMaxPodGracePeriod: count('The most seconds that a pod has to end when it is evicted by a soft threshold.'),
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
