/** The body of POST /instances. Pure. */
import type { IBMNodeClass } from '../../../apis/ibm/ibm-node-class.ts';
import type { RankedOffering } from '../../../engine/solution.ts';
import { bootVolumeName, interfaceName } from './machine-name.ts';

export interface PrototypeOptions {
  readonly name: string;
  readonly nodeClass: IBMNodeClass;
  readonly offering: RankedOffering;
  readonly subnetId: string;
  readonly userData: string;
  /** Set on the boot volume, the only part of a machine that accepts tags at creation. */
  readonly tags: readonly string[];
}

const DEFAULT_BOOT_GB = 100;
const DEFAULT_VOLUME_PROFILE = 'general-purpose';

/** Spot machines have the spot availability class, stop when preempted, and use neither reservations nor dedicated hosts. */
export function instancePrototype({ name, nodeClass, offering, subnetId, userData, tags }: PrototypeOptions): object {
  const { spec, status = {} } = nodeClass;
  const { sshKeys = [], placementTarget, blockDeviceMappings = [] } = spec;
  const resourceGroup = status.resolvedResourceGroup;
  const group = resourceGroup === undefined ? {} : { resource_group: { id: resourceGroup } };
  const root = blockDeviceMappings.find(({ rootVolume }) => rootVolume === true);
  const target =
    placementTarget === undefined || placementTarget === '' ? {} : { placement_target: { id: placementTarget } };
  const spot = offering.capacityType === 'spot';
  return {
    name,
    profile: { name: offering.instanceType },
    zone: { name: offering.zone },
    vpc: { id: spec.vpc },
    image: { id: status.resolvedImageID },
    ...group,
    keys: sshKeys.map((id) => ({ id })),
    user_data: userData,
    metadata_service: { enabled: true, protocol: 'http', response_hop_limit: 2 },
    availability: { class: spot ? 'spot' : 'standard' },
    availability_policy: spot ? { preemption: 'stop' } : { host_failure: 'restart' },
    ...affinityOf(spec, spot),
    ...(spot && status.placementTargetKind !== 'PlacementGroup' ? {} : target),
    boot_volume_attachment: {
      name: 'boot',
      delete_volume_on_instance_delete: root?.volumeSpec?.deleteOnTermination ?? true,
      volume: volume(bootVolumeName(name), root?.volumeSpec, tags, DEFAULT_BOOT_GB),
    },
    ...dataVolumes(name, blockDeviceMappings, tags),
    primary_network_attachment: {
      name: 'eth0',
      virtual_network_interface: {
        name: interfaceName(name),
        subnet: { id: subnetId },
        security_groups: (status.resolvedSecurityGroups ?? []).map((id) => ({ id })),
        allow_ip_spoofing: false,
        // Required on a virtual server; the interface is deleted with the machine.
        enable_infrastructure_nat: true,
        auto_delete: true,
        ...group,
      },
    },
  };
}

/** On-demand machines use IBM Cloud's defaults, unless the class or its placement sets something else. */
function affinityOf({ reservationAffinity, placementTarget }: IBMNodeClass['spec'], spot: boolean): object {
  if (spot) return { reservation_affinity: { policy: 'disabled' } };
  if (reservationAffinity === undefined)
    return placementTarget === undefined || placementTarget === ''
      ? {}
      : { reservation_affinity: { policy: 'disabled' } };
  const { policy, pool = [] } = reservationAffinity;
  return { reservation_affinity: policy === 'manual' ? { policy, pool: pool.map((id) => ({ id })) } : { policy } };
}

type Mapping = NonNullable<IBMNodeClass['spec']['blockDeviceMappings']>[number];

function dataVolumes(name: string, mappings: readonly Mapping[], tags: readonly string[]): object {
  const others = mappings.filter(({ rootVolume }) => rootVolume !== true);
  if (others.length === 0) return {};
  return {
    volume_attachments: others.map(({ deviceName, volumeSpec }, index) => ({
      name: deviceName ?? `data-${index}`,
      delete_volume_on_instance_delete: volumeSpec?.deleteOnTermination ?? true,
      volume: volume(`${name}-data-${index}`, volumeSpec, tags, DEFAULT_BOOT_GB),
    })),
  };
}

function volume(name: string, spec: Mapping['volumeSpec'], tags: readonly string[], fallbackGB: number): object {
  const { capacity = fallbackGB, profile, iops, bandwidth, encryptionKeyID, tags: own = [] } = spec ?? {};
  return {
    name,
    capacity,
    profile: { name: profile === undefined || profile === '' ? DEFAULT_VOLUME_PROFILE : profile },
    user_tags: [...tags, ...own],
    ...(iops === undefined ? {} : { iops }),
    ...(bandwidth === undefined ? {} : { bandwidth }),
    ...(encryptionKeyID === undefined ? {} : { encryption_key: { crn: encryptionKeyID } }),
  };
}
