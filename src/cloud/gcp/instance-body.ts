/** The body of an insert: one machine with its boot disk, spot or not, as Compute Engine's schema wants it. Pure. */
import { createHash } from 'node:crypto';
import type { GceNodeClassSpec } from '../../apis/gcp/gce-node-class.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import { bootDisksOf } from './machine-types.ts';

export interface InstanceInput {
  readonly name: string;
  readonly project: string;
  readonly spec: GceNodeClassSpec;
  readonly offering: RankedOffering;
  readonly labels: Readonly<Record<string, string>>;
  /** The exact values, which labels cannot hold. */
  readonly metadata: Readonly<Record<string, string>>;
}

export function instanceBody({ name, project, spec, offering, labels, metadata }: InstanceInput): object {
  const { zone, instanceType, capacityType } = offering;
  const { category = bootDisksOf(instanceType)[0], sizeGiB = 50 } = bootDisk(spec) ?? {};
  const isSpot = capacityType === 'spot';
  const isPrivate = spec.networkConfig?.enablePrivateNodes ?? true;
  const items = {
    ...spec.metadata,
    ...metadata,
    ...(spec.startupScript !== undefined && { 'startup-script': spec.startupScript }),
  };
  return {
    name,
    machineType: `zones/${zone}/machineTypes/${instanceType}`,
    labels,
    disks: [
      {
        boot: true,
        autoDelete: true,
        type: 'PERSISTENT',
        deviceName: 'boot',
        // int64 is a text in this API.
        initializeParams: {
          sourceImage: spec.imageSelectorTerms[0]?.id ?? '',
          diskType: `zones/${zone}/diskTypes/${category}`,
          diskSizeGb: `${sizeGiB}`,
        },
      },
    ],
    networkInterfaces: [
      {
        ...(spec.networkConfig?.subnetwork !== undefined
          ? { subnetwork: spec.networkConfig.subnetwork }
          : { network: `projects/${project}/global/networks/default` }),
        ...(!isPrivate && { accessConfigs: [{ type: 'ONE_TO_ONE_NAT', name: 'External NAT' }] }),
      },
    ],
    ...(spec.serviceAccount !== undefined && {
      serviceAccounts: [{ email: spec.serviceAccount, scopes: ['https://www.googleapis.com/auth/cloud-platform'] }],
    }),
    ...(spec.networkTags !== undefined && { tags: { items: spec.networkTags } }),
    metadata: { items: Object.entries(items).map(([key, value]) => ({ key, value })) },
    scheduling: isSpot
      ? {
          provisioningModel: 'SPOT',
          instanceTerminationAction: 'DELETE',
          automaticRestart: false,
          onHostMaintenance: 'TERMINATE',
          preemptible: true,
        }
      : {
          provisioningModel: 'STANDARD',
          automaticRestart: true,
          onHostMaintenance: isAccelerated(instanceType) ? 'TERMINATE' : 'MIGRATE',
        },
    // A plain on-demand machine would silently take a slot of any reservation that matches it.
    ...(!isSpot && { reservationAffinity: { consumeReservationType: 'NO_RESERVATION' } }),
  };
}

/** The disk that instances start from, as far as the node class says. */
export function bootDisk({ disks = [] }: GceNodeClassSpec): NonNullable<GceNodeClassSpec['disks']>[number] | undefined {
  return disks.find(({ boot }) => boot === true);
}

/** A label value: lower case letters, digits, `_` and `-`, 63 at most; anything else by its hash. */
export function labelValue(text: string): string {
  return /^[a-z0-9_-]{0,63}$/.test(text) ? text : `h-${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
}

/** The same for the same input, so that a repeated insert is one: a version 4 UUID made of its hash. */
export function requestId(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(parts.join('\u0000')).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function isAccelerated(instanceType: string): boolean {
  return /^(a2|a3|a4|g2|g4)-/.test(instanceType);
}
