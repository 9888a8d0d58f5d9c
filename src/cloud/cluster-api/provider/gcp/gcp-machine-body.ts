/** The insert of a GCPMachine's instance: network and project from the GCPCluster, spot fields as the machine has them. Pure. */
import { SpindriftError } from '../../../../platform/errors.ts';
import { labelValue } from '../../../gcp/instance-body.ts';
import { listAt, objectAt, type RawSpec, textAt } from '../../infrastructure/machine-settings.ts';
import type { InstanceOrder } from '../instance-cloud.ts';

/** On instances: the UID of the infrastructure machine. */
export const LABEL_MACHINE_UID = 'spindrift-machine-uid';

export interface GcpPlace {
  readonly project: string;
  readonly region: string;
  readonly zone: string;
  readonly name: string;
}

export function gcpMachineBody(order: InstanceOrder, place: GcpPlace): object {
  const { spec, cluster, clusterName, uid, role, settings, userData } = order;
  const { project, zone, name } = place;
  const clusterLabel = labelValue(clusterName);
  const metadata = listAt(spec, 'additionalMetadata').flatMap((item) => {
    const key = textAt(item, 'key');
    return key === undefined ? [] : [{ key, value: textAt(item, 'value') ?? '' }];
  });
  const account = objectAt(spec, 'serviceAccounts') ?? {};
  const shielded = objectAt(spec, 'shieldedInstanceConfig');
  return {
    name,
    machineType: `zones/${zone}/machineTypes/${settings.instanceType}`,
    canIpForward: textAt(spec, 'ipForwarding') !== 'Disabled',
    labels: {
      ...(objectAt(cluster.spec ?? {}, 'additionalLabels') as Record<string, string> | undefined),
      ...(objectAt(spec, 'additionalLabels') as Record<string, string> | undefined),
      [`capg-cluster-${clusterLabel}`.slice(0, 63)]: 'owned',
      'capg-role': role,
      [LABEL_MACHINE_UID]: labelValue(uid),
    },
    tags: {
      items: [...new Set([...textsAt(spec, 'additionalNetworkTags'), `${clusterLabel}-${role}`, clusterLabel])],
    },
    disks: [
      {
        boot: true,
        autoDelete: true,
        type: 'PERSISTENT',
        // int64 is a text in this API.
        initializeParams: {
          sourceImage: imageOf(order, project),
          diskType: `zones/${zone}/diskTypes/${textAt(spec, 'rootDeviceType') ?? 'pd-standard'}`,
          diskSizeGb: `${typeof spec.rootDeviceSize === 'number' ? spec.rootDeviceSize : 30}`,
        },
      },
      ...listAt(spec, 'additionalDisks').map((disk) => ({
        autoDelete: true,
        type: textAt(disk, 'deviceType') === 'local-ssd' ? 'SCRATCH' : 'PERSISTENT',
        ...(textAt(disk, 'deviceType') === 'local-ssd' && { interface: 'NVME' }),
        initializeParams: {
          diskType: `zones/${zone}/diskTypes/${textAt(disk, 'deviceType') ?? 'pd-standard'}`,
          ...(typeof disk.size === 'number' && { diskSizeGb: `${disk.size}` }),
        },
      })),
    ],
    networkInterfaces: [networkOf(order, place)],
    serviceAccounts: [
      {
        email: textAt(account, 'email') ?? 'default',
        scopes: textsAt(account, 'scopes', ['https://www.googleapis.com/auth/cloud-platform']),
      },
    ],
    metadata: { items: [...metadata, { key: 'user-data', value: userData.toString('utf8') }] },
    scheduling: schedulingOf(spec),
    ...(shielded !== undefined && {
      shieldedInstanceConfig: {
        enableSecureBoot: textAt(shielded, 'secureBoot') === 'Enabled',
        enableVtpm: textAt(shielded, 'virtualizedTrustedPlatformModule') !== 'Disabled',
        enableIntegrityMonitoring: textAt(shielded, 'integrityMonitoring') !== 'Disabled',
      },
    }),
  };
}

/**
 * `provisioningModel: Spot` wins over `preemptible`. An instance that is taken back is deleted, where the API allows to say so: a stopped one
 * would keep its disk, and nothing starts it again. Legacy preemptible instances cannot be given that action.
 */
function schedulingOf(spec: RawSpec): object {
  const given = { automaticRestart: false, onHostMaintenance: 'TERMINATE' };
  if (textAt(spec, 'provisioningModel') === 'Spot')
    return { provisioningModel: 'SPOT', preemptible: true, instanceTerminationAction: 'DELETE', ...given };
  if (spec.preemptible === true) return { preemptible: true, ...given };
  const maintenance = textAt(spec, 'onHostMaintenance');
  return {
    provisioningModel: 'STANDARD',
    automaticRestart: true,
    ...(maintenance !== undefined && { onHostMaintenance: maintenance.toUpperCase() }),
  };
}

function networkOf({ spec, cluster }: InstanceOrder, { project, region }: GcpPlace): object {
  const network = textAt(objectAt(cluster.spec ?? {}, 'network') ?? {}, 'name') ?? 'default';
  const subnet = textAt(spec, 'subnet');
  return {
    network: `projects/${project}/global/networks/${network}`,
    ...(subnet !== undefined && { subnetwork: `projects/${project}/regions/${region}/subnetworks/${subnet}` }),
    ...(spec.publicIP === true && { accessConfigs: [{ type: 'ONE_TO_ONE_NAT', name: 'External NAT' }] }),
  };
}

function imageOf({ spec, machine }: InstanceOrder, project: string): string {
  const image = textAt(spec, 'image');
  if (image !== undefined) return image;
  const family = textAt(spec, 'imageFamily');
  if (family !== undefined) return family.includes('/') ? family : `projects/${project}/global/images/family/${family}`;
  const problem = `GCPMachine ${machine} names no image: set spec.image or spec.imageFamily`;
  throw new SpindriftError('CLOUD_REFUSED', { operation: 'inserting an instance', problem });
}

function textsAt(spec: RawSpec, field: string, otherwise: readonly string[] = []): readonly string[] {
  const value = spec[field];
  return Array.isArray(value) && value.length > 0 ? value.map(String) : otherwise;
}
