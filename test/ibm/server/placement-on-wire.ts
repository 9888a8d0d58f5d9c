/** Load balancers, placement groups and dedicated hosts as the VPC API writes them. */
import { instanceReference } from './machine-on-wire.ts';
import { resourceGroup, subnetReference } from './network-on-wire.ts';
import type { RegionWorld, StoredBalancer, StoredMember } from './region-world.ts';

const CREATED = '2026-01-02T03:04:05Z';

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
