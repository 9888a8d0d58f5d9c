/** Networks, images, keys and profiles as the VPC API writes them; the models of the official SDK are the judge of every field. */
import { profileOnWire } from './profiles.ts';
import type { RegionWorld, StoredImage, StoredSubnet } from './region-world.ts';

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
