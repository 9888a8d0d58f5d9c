/** The kubelet settings of an EC2NodeClass, which Spindrift needs to compute allocatable resources. */
import type { Rule } from '../schema/json-schema.ts';
import { boolean, integer, list, map, object, type Schema, text } from '../schema/schema.ts';

const QUANTITY =
  '(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?';
const THRESHOLD = `^((\\d{1,2}(\\.\\d{1,2})?|100(\\.0{1,2})?)%||${QUANTITY})$`;
const SIGNALS =
  "['memory.available','nodefs.available','nodefs.inodesFree','imagefs.available','imagefs.inodesFree','pid.available']";

const signalsOnly = (field: string): Rule => ({
  rule: `self.all(x, x in ${SIGNALS})`,
  message: `${field} knows the signals memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree and pid.available`,
});

const thresholds = (field: string, description: string): Schema<Readonly<Record<string, string>>> =>
  map(description, text('A percentage or an amount.', { pattern: THRESHOLD }), { rules: [signalsOnly(field)] });

const reserved = (field: string, description: string): Schema<Readonly<Record<string, string>>> =>
  map(description, text('The amount.', { pattern: `^${QUANTITY}$` }), {
    rules: [
      {
        rule: "self.all(x, x=='cpu' || x=='memory' || x=='ephemeral-storage' || x=='pid')",
        message: `${field} knows cpu, memory, ephemeral-storage and pid`,
      },
      { rule: "self.all(x, !self[x].startsWith('-'))", message: `${field} cannot be negative` },
    ],
  });

const count = (description: string): Schema<number> => integer(description, { format: 'int32', minimum: 0 });
const percent = (description: string): Schema<number> =>
  integer(description, { format: 'int32', minimum: 0, maximum: 100 });

export const KUBELET = object(
  'Settings of the kubelet; defaults to those of the image.',
  {
    clusterDNS: list('The addresses of the cluster DNS.', text('An address.')),
    maxPods: count('The maximum number of pods per node; defaults to the addresses of its network interfaces.'),
    podsPerCore: count('The maximum number of pods per vCPU; 0 means no limit.'),
    systemReserved: reserved('systemReserved', 'Resources reserved for the operating system.'),
    kubeReserved: reserved('kubeReserved', 'Resources reserved for the kubelet and the container runtime.'),
    evictionHard: thresholds('evictionHard', 'Eviction thresholds; when less is free, pods are evicted at once.'),
    evictionSoft: thresholds(
      'evictionSoft',
      'Soft eviction thresholds; when less is free for the grace period, pods are evicted.',
    ),
    evictionSoftGracePeriod: map('The grace period of each soft eviction threshold.', text('A time such as 1m30s.'), {
      rules: [signalsOnly('evictionSoftGracePeriod')],
    }),
    evictionMaxPodGracePeriod: integer(
      'The maximum termination grace period of pods evicted by a soft threshold, in seconds.',
      {
        format: 'int32',
      },
    ),
    imageGCHighThresholdPercent: percent('Images are removed when the disk is fuller than this.'),
    imageGCLowThresholdPercent: percent('Images are removed until the disk is no fuller than this.'),
    cpuCFSQuota: boolean('Whether CPU limits of containers are enforced.'),
  },
  {
    rules: [
      {
        rule: 'has(self.imageGCHighThresholdPercent) && has(self.imageGCLowThresholdPercent) ?  self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent  : true',
        message: 'imageGCHighThresholdPercent must be above imageGCLowThresholdPercent',
      },
      {
        rule: 'has(self.evictionSoft) ? self.evictionSoft.all(e, (e in self.evictionSoftGracePeriod)):true',
        message: 'each signal of evictionSoft needs a time in evictionSoftGracePeriod',
      },
      {
        rule: 'has(self.evictionSoftGracePeriod) ? self.evictionSoftGracePeriod.all(e, (e in self.evictionSoft)):true',
        message: 'each signal of evictionSoftGracePeriod needs a threshold in evictionSoft',
      },
    ],
  },
);
