/** A machine of Cluster API as controllers know machines. */
import type { CoreMachine } from '../../apis/cluster-api/machine.ts';
import { ANNOTATION_MACHINE, LABEL_INTERRUPTIBLE } from '../../apis/cluster-api/names.ts';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../apis/karpenter/labels.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import type { Machine } from '../machine.ts';
import type { DescribedDeployment } from './describe-deployment.ts';
import { ANNOTATION_CLAIM, ANNOTATION_NODE_CLASS, ANNOTATION_POOL, LABEL_CLAIM_UID } from './own-names.ts';

/** Undefined while it has no provider ID: nothing has been launched for it then. */
export function machineOf(machine: CoreMachine, deployment: DescribedDeployment | undefined): Machine | undefined {
  const { metadata, spec, status } = machine;
  const providerID = spec?.providerID;
  if (providerID === undefined || providerID === '') return undefined;
  const instanceType = deployment?.instanceType ?? '';
  const zone = status?.failureDomain ?? spec?.failureDomain ?? deployment?.zone ?? '';
  const capacityType = deployment?.capacityType ?? 'on-demand';
  const capacity = deployment?.capacity ?? {};
  const overhead = deployment?.overhead ?? {};
  return {
    providerID,
    state:
      metadata.deletionTimestamp !== undefined
        ? 'stopping'
        : status?.nodeRef?.name === undefined
          ? 'pending'
          : 'running',
    instanceType,
    zone,
    capacityType,
    labels: {
      ...deployment?.labels,
      [LABEL_INSTANCE_TYPE]: instanceType,
      [LABEL_ZONE]: zone,
      [LABEL_CAPACITY_TYPE]: capacityType,
      ...(capacityType === 'spot' && { [LABEL_INTERRUPTIBLE]: '' }),
    },
    capacity,
    allocatable: Object.fromEntries(
      Object.entries(capacity).map(([name, amount]) => [name, Math.max(0, amount - (overhead[name] ?? 0))]),
    ),
    launchedAt: parseTimestamp(metadata.creationTimestamp) ?? (0 as EpochMs),
    annotations: { [ANNOTATION_MACHINE]: keyText(keyOf(machine)) },
    claim: { name: metadata.annotations?.[ANNOTATION_CLAIM] ?? '', uid: metadata.labels?.[LABEL_CLAIM_UID] ?? '' },
    pool: metadata.annotations?.[ANNOTATION_POOL] ?? '',
    nodeClass: metadata.annotations?.[ANNOTATION_NODE_CLASS] ?? '',
  };
}

const INSTANCE =
  /^(aws|gce|azure|simulated|docker|inmemory|vsphere|openstack|metal3|ibm|ibmvpc|oci|hcloud|proxmox|nutanix|byoh|kubemark):\/\//;

/** How notices name a machine: the ID of an EC2 or simulated instance, and the whole provider ID, whose case Azure does not keep, elsewhere. */
export function instanceKey(providerID: string): string | undefined {
  const scheme = INSTANCE.exec(providerID)?.[1];
  if (scheme === undefined) return undefined;
  return scheme === 'aws' || scheme === 'simulated'
    ? providerID.slice(providerID.lastIndexOf('/') + 1)
    : providerID.toLowerCase();
}
