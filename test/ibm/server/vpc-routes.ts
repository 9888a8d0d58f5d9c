/** The VPC API of one region: routes, paging, filters, and the errors that a client must live with. */
import { createInstance } from './create-instance.ts';
import * as machines from './machine-on-wire.ts';
import * as network from './network-on-wire.ts';
import * as placement from './placement-on-wire.ts';
import type { RegionWorld, StoredBalancer, StoredInstance } from './region-world.ts';
import { type WireAnswer, WireError, type WireRequest } from './wire-request.ts';

type Parts = readonly string[];
type Route = (world: RegionWorld, parts: Parts, request: WireRequest) => WireAnswer;

const ok = (body: unknown): WireAnswer => ({ status: 200, body });
const found = <T>(one: T | undefined, what: string, id: string | undefined): T => {
  if (one === undefined) throw new WireError(404, 'not_found', `${what} ${id} not found`);
  return one;
};

/** `METHOD /pattern` with `*` for one part. */
const ROUTES: Readonly<Record<string, Route>> = {
  'GET /regions': (world) => ok({ regions: [region(world)] }),
  'GET /regions/*': (world, [name]) => ok(found(name === world.region ? region(world) : undefined, 'Region', name)),
  'GET /regions/*/zones': (world) =>
    ok({
      zones: world.zones.map((name) => ({
        ...world.refs.zone(name),
        region: { href: world.refs.href(`/regions/${world.region}`), name: world.region },
        status: 'available',
        data_center: name,
        universal_name: `${name}-dal`,
      })),
    }),
  'GET /instance/profiles': (world, _, request) =>
    page(
      world,
      request,
      'profiles',
      world.profiles,
      (one) => network.profile(world, one.name),
      (one) => one.name,
    ),
  'GET /instance/profiles/*': (world, [name = '']) => ok(found(network.profile(world, name), 'Profile', name)),
  'GET /images': (world, _, request) => {
    const { query } = request;
    const images = world.images.filter(
      (one) =>
        matches(query, 'name', one.name) &&
        matches(query, 'visibility', one.visibility) &&
        matches(query, 'user_data_format', one.userDataFormat) &&
        (query.get('status')?.split(',').includes(one.status) ?? true),
    );
    return page(
      world,
      request,
      'images',
      images,
      (one) => network.image(world, one),
      (one) => one.id,
    );
  },
  'GET /images/*': (world, [id]) =>
    ok(
      network.image(
        world,
        found(
          world.images.find((one) => one.id === id),
          'Image',
          id,
        ),
      ),
    ),
  'GET /vpcs/*': (world, [id]) => ok(found(id === world.network.vpc.id ? network.vpc(world) : undefined, 'VPC', id)),
  'GET /vpcs/*/default_security_group': (world, [id]) =>
    ok(
      found(
        id === world.network.vpc.id ? network.securityGroup(world, world.network.vpc.defaultGroup) : undefined,
        'VPC',
        id,
      ),
    ),
  'GET /subnets': (world, _, request) => {
    const { query } = request;
    const subnets = world.network.subnets.filter(
      (one) => matches(query, 'vpc.id', world.network.vpc.id) && matches(query, 'zone.name', one.zone),
    );
    return page(
      world,
      request,
      'subnets',
      subnets,
      (one) => network.subnet(world, one),
      (one) => one.id,
    );
  },
  'GET /subnets/*': (world, [id]) =>
    ok(
      network.subnet(
        world,
        found(
          world.network.subnets.find((one) => one.id === id),
          'Subnet',
          id,
        ),
      ),
    ),
  'GET /security_groups': (world, _, request) =>
    page(
      world,
      request,
      'security_groups',
      world.network.securityGroups,
      (one) => network.securityGroup(world, one.id),
      (one) => one.id,
    ),
  'GET /security_groups/*': (world, [id = '']) =>
    ok(
      network.securityGroup(
        world,
        found(
          world.network.securityGroups.find((one) => one.id === id),
          'Security group',
          id,
        ).id,
      ),
    ),
  'GET /keys/*': (world, [id]) =>
    ok(
      network.key(
        world,
        found(
          world.keys.find((one) => one.id === id),
          'Key',
          id,
        ),
      ),
    ),
  'GET /instances': (world, _, request) => {
    const { query } = request;
    const instances = [...world.instances.values()].filter(
      (one) =>
        matches(query, 'name', one.name) &&
        matches(query, 'vpc.id', one.vpcId) &&
        matches(query, 'resource_group.id', one.resourceGroup) &&
        matches(query, 'availability.class', one.availabilityClass),
    );
    return page(
      world,
      request,
      'instances',
      instances,
      (one) => machines.instance(world, one),
      (one) => one.id,
    );
  },
  'POST /instances': (world, _, request) => ({
    status: 201,
    body: machines.instance(world, createInstance(world, json(request))),
  }),
  'GET /instances/*': (world, [id]) => ok(machines.instance(world, instanceOf(world, id))),
  'DELETE /instances/*': (world, [id]) => {
    const instance = instanceOf(world, id);
    if (instance.deletedAt !== undefined)
      throw new WireError(409, 'instance_deletion_in_progress', `Instance ${instance.id} is being deleted`);
    instance.deletedAt = world.clock.now();
    if (instance.fails !== undefined && world.faults.leavesLeftovers) leaveBehind(world, instance);
    return { status: 204 };
  },
  'POST /instances/*/actions': (world, [id], request) => {
    const instance = instanceOf(world, id);
    const { type, force = false } = json(request) as { type: string; force?: boolean };
    const { status } = world.statusOf(instance);
    if (status !== (type === 'start' ? 'stopped' : 'running'))
      throw new WireError(
        409,
        'instance_action_conflict',
        `Instance ${instance.id} is ${status}: ${type} is not possible`,
      );
    if (type === 'stop') world.stop(instance.id);
    if (type === 'start') instance.stopped = undefined;
    const action = world.refs.uuid();
    const href = world.refs.href(`/instances/${instance.id}/actions/${action}`);
    return {
      status: 201,
      body: { created_at: world.at(world.clock.now()), force, href, id: action, status: 'pending', type },
    };
  },
  'GET /volumes': (world, _, request) => {
    const volumes = [...world.volumes.values()].filter((one) => matches(request.query, 'name', one.name));
    return page(
      world,
      request,
      'volumes',
      volumes,
      (one) => machines.volume(world, one),
      (one) => one.id,
    );
  },
  'GET /volumes/*': (world, [id = '']) => ok(machines.volume(world, found(world.volumes.get(id), 'Volume', id))),
  'DELETE /volumes/*': (world, [id = '']) => {
    const volume = found(world.volumes.get(id), 'Volume', id);
    if (volume.instanceId !== undefined) throw new WireError(409, 'volume_attached', `Volume ${id} is attached`);
    world.volumes.delete(id);
    return { status: 204 };
  },
  'GET /virtual_network_interfaces': (world, _, request) => {
    const interfaces = [...world.interfaces.values()].filter((one) => matches(request.query, 'name', one.name));
    return page(
      world,
      request,
      'virtual_network_interfaces',
      interfaces,
      (one) => machines.networkInterface(world, one),
      (one) => one.id,
    );
  },
  'GET /virtual_network_interfaces/*': (world, [id = '']) =>
    ok(machines.networkInterface(world, found(world.interfaces.get(id), 'Virtual network interface', id))),
  'DELETE /virtual_network_interfaces/*': (world, [id = '']) => {
    const one = found(world.interfaces.get(id), 'Virtual network interface', id);
    if (one.instanceId !== undefined) throw new WireError(409, 'vni_in_use', `Interface ${id} is in use`);
    world.removeInterface(id);
    return { status: 204 };
  },
  'GET /placement_groups/*': (world, [id = '']) =>
    ok(placement.placementGroup(world, found(world.placementGroups.get(id), 'Placement group', id))),
  'GET /dedicated_hosts/*': (world, [id = '']) =>
    ok(placement.dedicatedHost(world, found(world.dedicatedHosts.get(id), 'Dedicated host', id))),
  'GET /dedicated_host/groups/*': (world, [id = '']) =>
    ok(placement.dedicatedHostGroup(world, found(world.dedicatedHostGroups.get(id), 'Dedicated host group', id))),
  'GET /load_balancers/*': (world, [id]) => ok(placement.balancer(world, balancerOf(world, id))),
  'GET /load_balancers/*/pools': (world, [id]) => {
    const balancer = balancerOf(world, id);
    return ok({ pools: balancer.pools.map((pool) => placement.balancerPool(world, balancer, pool)) });
  },
  'GET /load_balancers/*/pools/*/members': (world, [id, pool]) => {
    const balancer = balancerOf(world, id);
    return ok({
      members: poolOf(balancer, pool).members.map((one) => placement.balancerMember(world, balancer, pool ?? '', one)),
    });
  },
  'GET /load_balancers/*/pools/*/members/*': (world, [id, pool, member]) => {
    const balancer = balancerOf(world, id);
    const one = found(
      poolOf(balancer, pool).members.find((each) => each.id === member),
      'Member',
      member,
    );
    return ok(placement.balancerMember(world, balancer, pool ?? '', one));
  },
  'POST /load_balancers/*/pools/*/members': (world, [id, poolId], request) => {
    const balancer = balancerOf(world, id);
    const pool = poolOf(balancer, poolId);
    const body = json(request) as { port: number; weight?: number; target: { id: string } };
    change(world, balancer);
    const member = {
      id: world.refs.regionalId(),
      port: body.port,
      weight: body.weight ?? 50,
      instanceId: instanceOf(world, body.target.id).id,
      createdAt: world.clock.now(),
    };
    pool.members.push(member);
    return { status: 201, body: placement.balancerMember(world, balancer, pool.id, member) };
  },
  'DELETE /load_balancers/*/pools/*/members/*': (world, [id, poolId, memberId]) => {
    const balancer = balancerOf(world, id);
    const { members } = poolOf(balancer, poolId);
    const index = members.findIndex((one) => one.id === memberId);
    if (index < 0) throw new WireError(404, 'member_not_found', `Member ${memberId} not found`);
    change(world, balancer);
    members.splice(index, 1);
    return { status: 204 };
  },
};

/** Answers a request under /v1. */
export function answerVpc(world: RegionWorld, request: WireRequest): WireAnswer {
  const { query } = request;
  if (query.get('generation') !== '2')
    throw new WireError(400, 'bad_field', 'The generation parameter is required and must be 2', {
      field: 'generation',
    });
  if (!/^\d{4}-\d\d-\d\d$/.test(query.get('version') ?? ''))
    throw new WireError(400, 'bad_field', 'The version parameter is required as YYYY-MM-DD', { field: 'version' });
  if (request.method === 'PATCH' && request.headers['content-type'] !== 'application/merge-patch+json')
    throw new WireError(415, 'unsupported_media_type', 'PATCH needs application/merge-patch+json');
  world.settle();
  const parts = request.path.slice('/v1/'.length).split('/');
  for (const [pattern, route] of Object.entries(ROUTES)) {
    const [method, path = ''] = pattern.split(' ');
    const wanted = path.slice(1).split('/');
    if (method !== request.method || wanted.length !== parts.length) continue;
    if (wanted.every((part, index) => part === '*' || part === parts[index]))
      return route(world, parts.filter((_, index) => wanted[index] === '*').map(decodeURIComponent), request);
  }
  throw new WireError(404, 'not_found', `There is no ${request.method} ${request.path}`);
}

function region(world: RegionWorld) {
  const name = world.region;
  return {
    endpoint: `https://${name}.iaas.cloud.ibm.com`,
    href: world.refs.href(`/regions/${name}`),
    name,
    status: 'available',
  };
}

function matches(query: URLSearchParams, key: string, value: string): boolean {
  const wanted = query.get(key);
  return wanted === null || wanted === value;
}

const DEFAULT_LIMIT = 50;
const MOST = 100;

/** One page: 50 items unless asked otherwise, at most 100, and `next.href` while there are more. */
function page<T>(
  world: RegionWorld,
  request: WireRequest,
  field: string,
  all: readonly T[],
  onWire: (one: T) => unknown,
  idOf: (one: T) => string,
): WireAnswer {
  const limit = Number(request.query.get('limit') ?? DEFAULT_LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw new WireError(400, 'bad_field', `The limit ${request.query.get('limit')} is not between 1 and ${MOST}`, {
      field: 'limit',
    });
  const start = request.query.get('start');
  const from = start === null ? 0 : all.findIndex((one) => idOf(one) === start);
  if (from < 0) throw new WireError(400, 'bad_field', 'The start token is not valid', { field: 'start' });
  const link = (token: string | undefined): string => {
    const query = new URLSearchParams(request.query);
    query.delete('start');
    query.set('limit', `${limit}`);
    if (token !== undefined) query.set('start', token);
    return `${world.refs.base}${request.path.slice('/v1'.length)}?${query}`;
  };
  const next = all[from + limit];
  return ok({
    first: { href: link(undefined) },
    [field]: all.slice(from, from + limit).map(onWire),
    limit,
    ...(next === undefined ? {} : { next: { href: link(idOf(next)) } }),
    total_count: all.length,
  });
}

function instanceOf(world: RegionWorld, id: string | undefined): StoredInstance {
  return found(world.instances.get(id ?? ''), 'Instance', id);
}

function balancerOf(world: RegionWorld, id: string | undefined): StoredBalancer {
  return found(world.balancers.get(id ?? ''), 'Load balancer', id);
}

function poolOf(balancer: StoredBalancer, id: string | undefined) {
  return found(
    balancer.pools.find((pool) => pool.id === id),
    'Pool',
    id,
  );
}

/** A load balancer takes one change at a time. */
function change(world: RegionWorld, balancer: StoredBalancer): void {
  if (world.clock.now() < balancer.busyUntil)
    throw new WireError(
      409,
      'load_balancer_update_conflict',
      `The load balancer ${balancer.id} cannot be updated: UPDATE_PENDING`,
    );
  balancer.busyUntil = (world.clock.now() + 8000) as typeof balancer.busyUntil;
}

/** A failed create may leave its interface and its boot volume behind: they do not go with the instance then. */
function leaveBehind(world: RegionWorld, instance: StoredInstance): void {
  const kept = world.interfaces.get(instance.interfaceId);
  if (kept !== undefined) world.interfaces.set(kept.id, { ...kept, autoDelete: false });
  const volume = world.volumes.get(instance.bootVolumeId);
  if (volume !== undefined) world.volumes.set(volume.id, { ...volume, deleteWithInstance: false });
}

function json(request: WireRequest): unknown {
  try {
    return JSON.parse(request.body);
  } catch {
    throw new WireError(400, 'bad_request', 'The body is not JSON');
  }
}
