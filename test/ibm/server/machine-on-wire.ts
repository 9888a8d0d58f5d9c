/** Instances, volumes and network interfaces as the VPC API writes them. */
import { groupReference, resourceGroup, subnetReference, vpcReference } from './network-on-wire.ts';
import type { RegionWorld, StoredInstance, StoredInterface, StoredVolume } from './region-world.ts';

export function instanceReference(world: RegionWorld, one: StoredInstance) {
  return world.refs.reference('instance', 'instances', one.id, one.name, one.zone);
}

function addressOf(world: RegionWorld, one: StoredInterface) {
  return {
    address: one.address,
    href: world.refs.href(`/subnets/${one.subnet.id}/reserved_ips/${one.id}`),
    id: one.id,
    name: `${one.name}-ip`,
    resource_type: 'subnet_reserved_ip',
  };
}

function volumeAttachment(world: RegionWorld, one: StoredInstance, volumeId: string, name: string) {
  const volume = world.volumes.get(volumeId);
  const id = `${volumeId}-attachment`;
  return {
    device: { id: `${volumeId}-device` },
    href: world.refs.href(`/instances/${one.id}/volume_attachments/${id}`),
    id,
    name,
    ...(volume === undefined
      ? {}
      : { volume: world.refs.typed('volume', 'volumes', volume.id, volume.name, 'volume', one.zone) }),
  };
}

export function instance(world: RegionWorld, one: StoredInstance) {
  const { status, reasons } = world.statusOf(one);
  const boot = volumeAttachment(world, one, one.bootVolumeId, one.bootAttachmentName);
  const vni = world.interfaces.get(one.interfaceId);
  const networkPath = (kind: string) => world.refs.href(`/instances/${one.id}/${kind}/${one.interfaceId}`);
  const network =
    vni === undefined
      ? undefined
      : {
          href: networkPath('network_interfaces'),
          id: vni.id,
          name: one.attachmentName,
          primary_ip: addressOf(world, vni),
          resource_type: 'network_interface',
          subnet: subnetReference(world, vni.subnet),
        };
  const attachment =
    network === undefined || vni === undefined
      ? undefined
      : {
          ...network,
          href: networkPath('network_attachments'),
          resource_type: 'instance_network_attachment',
          virtual_network_interface: world.refs.typed(
            'virtual-network-interface',
            'virtual_network_interfaces',
            vni.id,
            vni.name,
            'virtual_network_interface',
            one.zone,
          ),
        };
  const imageName = world.images.find(({ id }) => id === one.imageId)?.name ?? 'image';
  const { gpu, vcpu, memoryGiB, disksGB = [], architecture = 'amd64' } = one.profile;
  return {
    ...instanceReference(world, one),
    availability: { class: one.availabilityClass },
    availability_policy: { host_failure: one.hostFailure, preemption: one.preemption },
    bandwidth: vcpu * 2000,
    boot_volume_attachment: boot,
    cluster_network_attachments: [],
    confidential_compute_mode: 'disabled',
    created_at: world.at(one.createdAt),
    disks: disksGB.map((size, index) => ({
      created_at: world.at(one.createdAt),
      href: world.refs.href(`/instances/${one.id}/disks/disk-${index}`),
      id: `disk-${index}`,
      interface_type: 'virtio_blk',
      name: `disk-${index}`,
      resource_type: 'instance_disk',
      size,
    })),
    enable_secure_boot: false,
    ...(gpu === undefined
      ? {}
      : { gpu: { count: gpu.count, manufacturer: gpu.maker, memory: gpu.memoryGiB, model: gpu.model } }),
    health_reasons: [],
    health_state: 'ok',
    image: world.refs.typed('image', 'images', one.imageId, imageName, 'image'),
    lifecycle_reasons: [],
    lifecycle_state:
      status === 'deleting' ? 'deleting' : status === 'failed' ? 'failed' : status === 'pending' ? 'pending' : 'stable',
    memory: memoryGiB,
    metadata_service: { enabled: one.metadataEnabled, protocol: 'http', response_hop_limit: 2 },
    network_attachments: attachment === undefined ? [] : [attachment],
    network_interfaces: network === undefined ? [] : [network],
    ...(attachment === undefined ? {} : { primary_network_attachment: attachment }),
    primary_network_interface: network,
    profile: {
      href: world.refs.href(`/instance/profiles/${one.profile.name}`),
      name: one.profile.name,
      resource_type: 'instance_profile',
    },
    reservation_affinity: { policy: one.affinity, pool: [] },
    resource_group: resourceGroup(world, one.resourceGroup),
    resource_type: 'instance',
    software_attachments: [],
    startable: true,
    status,
    status_reasons: reasons,
    threads_per_core: 2,
    total_network_bandwidth: vcpu * 1500,
    total_volume_bandwidth: vcpu * 500,
    vcpu: { architecture, count: vcpu, manufacturer: architecture === 's390x' ? 'ibm' : 'intel', percentage: 100 },
    volume_attachments: [boot, ...one.volumeIds.slice(1).map((id) => volumeAttachment(world, one, id, 'data'))],
    volume_bandwidth_qos_mode: 'weighted',
    vpc: vpcReference(world),
    zone: world.refs.zone(one.zone),
  };
}

export function volume(world: RegionWorld, one: StoredVolume) {
  const attached = one.instanceId === undefined ? undefined : world.instances.get(one.instanceId);
  return {
    ...world.refs.typed('volume', 'volumes', one.id, one.name, 'volume', one.zone),
    active: attached !== undefined,
    adjustable_capacity_states: ['attached'],
    adjustable_iops_states: [],
    attachment_state: attached === undefined ? 'unattached' : 'attached',
    bandwidth: 393,
    busy: false,
    capacity: one.capacity,
    created_at: world.at(one.createdAt),
    encryption: 'provider_managed',
    health_reasons: [],
    health_state: 'ok',
    iops: one.iops,
    profile: { href: world.refs.href(`/volume/profiles/${one.profile}`), name: one.profile },
    resource_group: resourceGroup(world, world.resourceGroups[0]?.id ?? ''),
    software_attachments: [],
    status: 'available',
    status_reasons: [],
    storage_generation: 1,
    user_tags: [...one.userTags],
    volume_attachments:
      attached === undefined
        ? []
        : [
            {
              delete_volume_on_instance_delete: one.deleteWithInstance,
              href: world.refs.href(`/instances/${attached.id}/volume_attachments/${one.id}-attachment`),
              id: `${one.id}-attachment`,
              instance: instanceReference(world, attached),
              name: 'boot',
              type: 'boot',
            },
          ],
    zone: world.refs.zone(one.zone),
  };
}

export function networkInterface(world: RegionWorld, one: StoredInterface) {
  const place = one.subnet.zone;
  return {
    ...world.refs.typed(
      'virtual-network-interface',
      'virtual_network_interfaces',
      one.id,
      one.name,
      'virtual_network_interface',
      place,
    ),
    allow_ip_spoofing: false,
    auto_delete: one.autoDelete,
    created_at: world.at(one.createdAt),
    enable_infrastructure_nat: true,
    ips: [addressOf(world, one)],
    lifecycle_state: 'stable',
    mac_address: '02:00:04:00:C4:6A',
    primary_ip: addressOf(world, one),
    protocol_state_filtering_mode: 'auto',
    resource_group: resourceGroup(world, world.resourceGroups[0]?.id ?? ''),
    security_groups: one.securityGroups.map((id) => groupReference(world, id)),
    subnet: subnetReference(world, one.subnet),
    ...(one.instanceId === undefined
      ? {}
      : {
          target: {
            href: world.refs.href(`/instances/${one.instanceId}/network_attachments/${one.id}`),
            id: one.id,
            name: 'eth0',
            resource_type: 'instance_network_attachment',
          },
        }),
    vpc: vpcReference(world),
    zone: world.refs.zone(place),
  };
}
