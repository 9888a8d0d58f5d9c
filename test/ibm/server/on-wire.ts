/** What the server stores, as the VPC API writes it; the models of the official SDK are the judge of every field. */
import { profileOnWire } from './profiles.ts';
import type {
  RegionWorld,
  StoredBalancer,
  StoredImage,
  StoredInstance,
  StoredInterface,
  StoredMember,
  StoredSubnet,
  StoredVolume,
} from './region-world.ts';

const CREATED = '2026-01-02T03:04:05Z';

export function resourceGroup(world: RegionWorld, id: string) {
  const name = world.resourceGroups.find((one) => one.id === id)?.name ?? 'Default';
  return { href: `https://resource-controller.cloud.ibm.com/v2/resource_groups/${id}`, id, name };
}

export function vpcReference(world: RegionWorld) {
  const { id, name } = world.network.vpc;
  return world.refs.typed('vpc', 'vpcs', id, name, 'vpc');
}

export function groupReference(world: RegionWorld, id: string) {
  const name = world.network.securityGroups.find((one) => one.id === id)?.name ?? 'group';
  return world.refs.reference('security-group', 'security_groups', id, name);
}

export function subnetReference(world: RegionWorld, subnet: StoredSubnet) {
  return world.refs.typed('subnet', 'subnets', subnet.id, subnet.name, 'subnet', subnet.zone);
}

const acl = (world: RegionWorld) => world.refs.reference('network-acl', 'network_acls', 'r006-acl', 'default-acl');
const routes = (world: RegionWorld) => ({
  crn: world.refs.crn('routing-table', 'r006-routes'),
  href: world.refs.href(`/vpcs/${world.network.vpc.id}/routing_tables/r006-routes`),
  id: 'r006-routes',
  name: 'default-routes',
  resource_type: 'routing_table',
});

export function vpc(world: RegionWorld) {
  return {
    ...vpcReference(world),
    classic_access: false,
    created_at: CREATED,
    cse_source_ips: [],
    default_network_acl: acl(world),
    default_routing_table: routes(world),
    default_security_group: groupReference(world, world.network.vpc.defaultGroup),
    dns: {
      enable_hub: false,
      resolution_binding_count: 0,
      resolver: { servers: [{ address: '161.26.0.10' }], configuration: 'default', type: 'system' },
    },
    health_reasons: [],
    health_state: 'ok',
    public_address_ranges: [],
    resource_group: resourceGroup(world, world.resourceGroups[0]?.id ?? ''),
    status: 'available',
  };
}

export function subnet(world: RegionWorld, one: StoredSubnet) {
  return {
    ...subnetReference(world, one),
    available_ipv4_address_count: one.total - one.used,
    created_at: CREATED,
    ip_version: 'ipv4',
    ipv4_cidr_block: '10.240.0.0/20',
    network_acl: acl(world),
    resource_group: resourceGroup(world, world.resourceGroups[0]?.id ?? ''),
    routing_table: routes(world),
    status: one.status,
    total_ipv4_address_count: one.total,
    vpc: vpcReference(world),
    zone: world.refs.zone(one.zone),
  };
}

export function securityGroup(world: RegionWorld, id: string) {
  return {
    ...groupReference(world, id),
    created_at: CREATED,
    resource_group: resourceGroup(world, world.resourceGroups[0]?.id ?? ''),
    rules: [],
    targets: [],
    vpc: vpcReference(world),
  };
}

export function image(world: RegionWorld, one: StoredImage) {
  const [, os = 'ubuntu', major = '24', minor = '04'] = one.name.split('-');
  return {
    ...world.refs.typed('image', 'images', one.id, one.name, 'image'),
    allowed_use: { api_version: '2026-10-06', bare_metal_server: 'true', instance: 'true' },
    catalog_offering: { managed: false },
    created_at: world.at(one.createdAt),
    encryption: 'none',
    file: { size: 2 },
    minimum_provisioned_size: 10,
    operating_system: {
      allow_user_image_creation: true,
      architecture: one.architecture,
      dedicated_host_only: false,
      display_name: `${os} ${major}.${minor} (${one.architecture})`,
      family: 'Ubuntu Linux',
      href: world.refs.href(`/operating_systems/${os}-${major}-${minor}-${one.architecture}`),
      name: `${os}-${major}-${minor}-${one.architecture}`,
      user_data_format: one.userDataFormat,
      vendor: 'Canonical',
      version: `${major}.${minor} LTS`,
    },
    resource_group: resourceGroup(world, world.resourceGroups[0]?.id ?? ''),
    status: one.status,
    status_reasons: [],
    user_data_format: one.userDataFormat,
    visibility: one.visibility,
    zones: world.zones.map((zone) => world.refs.zone(zone)),
  };
}

export function key(world: RegionWorld, one: { id: string; name: string }) {
  return {
    ...world.refs.reference('key', 'keys', one.id, one.name),
    created_at: CREATED,
    fingerprint: 'SHA256:yxavE4CIOL2NlsqcurRO3xGjkP6m/0mp8ugojH5yxlY',
    length: 2048,
    public_key: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCvYfJlAvT1',
    resource_group: resourceGroup(world, world.resourceGroups[0]?.id ?? ''),
    type: 'rsa',
  };
}

export function profile(world: RegionWorld, name: string) {
  const shape = world.profiles.find((one) => one.name === name);
  return shape === undefined
    ? undefined
    : profileOnWire(
        shape,
        world.refs.base,
        world.zones.map((zone) => world.refs.zone(zone)),
      );
}

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

export function balancerPool(world: RegionWorld, balancer: StoredBalancer, one: StoredBalancer['pools'][number]) {
  return {
    algorithm: 'round_robin',
    created_at: CREATED,
    failsafe_policy: { action: 'fail', healthy_member_threshold_count: 0 },
    health_monitor: { delay: 30, max_retries: 2, timeout: 5, type: 'tcp' },
    href: world.refs.href(`/load_balancers/${balancer.id}/pools/${one.id}`),
    id: one.id,
    members: one.members.map((member) => ({
      href: world.refs.href(`/load_balancers/${balancer.id}/pools/${one.id}/members/${member.id}`),
      id: member.id,
    })),
    name: one.name,
    protocol: 'tcp',
    provisioning_status: 'active',
    proxy_protocol: 'disabled',
  };
}

export function balancerMember(world: RegionWorld, balancer: StoredBalancer, pool: string, one: StoredMember) {
  const target = world.instances.get(one.instanceId);
  return {
    created_at: world.at(one.createdAt),
    health: 'ok',
    href: world.refs.href(`/load_balancers/${balancer.id}/pools/${pool}/members/${one.id}`),
    id: one.id,
    port: one.port,
    provisioning_status: 'active',
    target: target === undefined ? { address: '192.0.2.1' } : instanceReference(world, target),
    weight: one.weight,
  };
}

export function balancer(world: RegionWorld, one: StoredBalancer) {
  const busy = world.clock.now() < one.busyUntil;
  return {
    ...world.refs.typed('load-balancer', 'load_balancers', one.id, 'ingress', 'load_balancer'),
    access_mode: 'public',
    advanced_health_checks_supported: false,
    asymmetric_routing_supported: false,
    attached_load_balancer_pool_members: [],
    availability: 'region',
    created_at: CREATED,
    failsafe_policy_actions: ['fail'],
    fqdn_pool_members_supported: false,
    hostname: 'ingress.us-south.lb.appdomain.cloud',
    instance_groups_supported: true,
    is_private_path: false,
    is_public: true,
    listeners: [],
    logging: { datapath: { active: false } },
    mtls_supported: false,
    operating_status: 'online',
    pools: one.pools.map(({ id, name }) => ({
      href: world.refs.href(`/load_balancers/${one.id}/pools/${id}`),
      id,
      name,
    })),
    private_ips: [],
    profile: { family: 'Application', href: world.refs.href('/load_balancer/profiles/dynamic'), name: 'dynamic' },
    provisioning_status: busy ? 'update_pending' : 'active',
    public_ips: [],
    resource_group: resourceGroup(world, world.resourceGroups[0]?.id ?? ''),
    route_mode: false,
    security_groups: [],
    security_groups_supported: true,
    source_ip_session_persistence_supported: true,
    subnets: world.network.subnets.map((each) => subnetReference(world, each)),
    udp_supported: false,
  };
}

export function placementGroup(world: RegionWorld, name: string) {
  const [id = ''] = [...world.placementGroups].find(([, one]) => one === name) ?? [];
  return {
    ...world.refs.typed('placement-group', 'placement_groups', id, name, 'placement_group'),
    created_at: CREATED,
    lifecycle_state: 'stable',
    resource_group: resourceGroup(world, world.resourceGroups[0]?.id ?? ''),
    strategy: 'host_spread',
  };
}

export function dedicatedHostGroup(world: RegionWorld, name: string) {
  const [id = ''] = [...world.dedicatedHostGroups].find(([, one]) => one === name) ?? [];
  return {
    ...world.refs.typed('dedicated-host-group', 'dedicated_host/groups', id, name, 'dedicated_host_group'),
    class: 'bx2',
    created_at: CREATED,
    dedicated_hosts: [],
    family: 'balanced',
    resource_group: resourceGroup(world, world.resourceGroups[0]?.id ?? ''),
    supported_instance_profiles: [],
    zone: world.refs.zone(world.zones[0] ?? ''),
  };
}

export function dedicatedHost(world: RegionWorld, name: string) {
  const [id = ''] = [...world.dedicatedHosts].find(([, one]) => one === name) ?? [];
  const zone = world.zones[0] ?? '';
  return {
    ...world.refs.typed('dedicated-host', 'dedicated_hosts', id, name, 'dedicated_host', zone),
    available_memory: 128,
    available_vcpu: { architecture: 'amd64', count: 32, manufacturer: 'intel' },
    created_at: CREATED,
    disks: [],
    group: world.refs.typed(
      'dedicated-host-group',
      'dedicated_host/groups',
      '0717-group',
      'group',
      'dedicated_host_group',
      zone,
    ),
    instance_placement_enabled: true,
    instances: [],
    lifecycle_state: 'stable',
    memory: 128,
    numa: { count: 2, nodes: [] },
    profile: { href: world.refs.href('/dedicated_host/profiles/bx2-host-152x608'), name: 'bx2-host-152x608' },
    provisionable: true,
    resource_group: resourceGroup(world, world.resourceGroups[0]?.id ?? ''),
    socket_count: 2,
    state: 'available',
    supported_instance_profiles: [],
    vcpu: { architecture: 'amd64', count: 32, manufacturer: 'intel' },
    zone: world.refs.zone(zone),
  };
}
