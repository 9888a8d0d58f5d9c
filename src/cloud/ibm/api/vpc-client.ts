/** Typed calls of the VPC API. Every list is read to its last page. */
import type { Clock } from '../../../platform/clock.ts';
import { VPC_API_VERSION } from './api-version.ts';
import type { HttpService } from './http-service.ts';
import { IbmApi, isNotFound } from './ibm-api.ts';
import type {
  Named,
  VpcImage,
  VpcInstance,
  VpcInterface,
  VpcPoolMember,
  VpcProfile,
  VpcSubnet,
  VpcVolume,
} from './vpc-types.ts';

const PAGE = 100;

type Query = Readonly<Record<string, string | undefined>>;

export interface VpcClientOptions {
  readonly service: HttpService;
  readonly clock: Clock;
  readonly region: string;
  readonly version?: string;
}

export interface InstanceFilter {
  readonly name?: string;
  readonly vpcId?: string;
  readonly resourceGroupId?: string;
  readonly availabilityClass?: 'spot' | 'standard';
}

export class VpcClient {
  readonly region: string;
  readonly #api: IbmApi;

  constructor({ service, clock, region, version = VPC_API_VERSION }: VpcClientOptions) {
    this.region = region;
    this.#api = new IbmApi({ service, clock, query: { version, generation: 2 } });
  }

  createInstance(prototype: object, signal: AbortSignal): Promise<VpcInstance> {
    return this.#api.call('CreateInstance', { method: 'POST', path: '/instances', body: prototype }, signal);
  }

  /** The instance; undefined if there is none. */
  getInstance(id: string, signal: AbortSignal): Promise<VpcInstance | undefined> {
    return this.#find('GetInstance', `/instances/${encodeURIComponent(id)}`, signal);
  }

  /** The instance of that name; names are unique in a region. */
  async instanceNamed(name: string, signal: AbortSignal): Promise<VpcInstance | undefined> {
    for await (const page of this.instancePages({ name }, signal)) for (const one of page) return one;
    return undefined;
  }

  /** Page by page, so that not all items are held in memory and each page can be retried on its own. */
  instancePages(filter: InstanceFilter, signal: AbortSignal): AsyncGenerator<readonly VpcInstance[]> {
    return this.#pages<VpcInstance>('ListInstances', '/instances', 'instances', queryOf(filter), signal);
  }

  /** One page, starting at the token of the previous page. */
  async instancePage(
    filter: InstanceFilter,
    start: string | undefined,
    signal: AbortSignal,
    limit = PAGE,
  ): Promise<{ readonly instances: readonly VpcInstance[]; readonly next: string | undefined }> {
    const query = { ...queryOf(filter), start, limit };
    const call = { method: 'GET', path: '/instances', query } as const;
    const body = await this.#api.call<Page & { instances: readonly VpcInstance[] }>('ListInstances', call, signal);
    return { instances: body.instances, next: nextStart(body) };
  }

  async listInstances(filter: InstanceFilter, signal: AbortSignal): Promise<VpcInstance[]> {
    return gather(this.instancePages(filter, signal));
  }

  /** Resolves when the deletion is accepted or already running, or there is nothing to delete. */
  deleteInstance(id: string, signal: AbortSignal): Promise<void> {
    return this.#delete('DeleteInstance', `/instances/${encodeURIComponent(id)}`, signal);
  }

  async instanceAction(id: string, type: 'reboot' | 'start' | 'stop', signal: AbortSignal): Promise<void> {
    const path = `/instances/${encodeURIComponent(id)}/actions`;
    await this.#api.call('CreateInstanceAction', { method: 'POST', path, body: { type } }, signal);
  }

  listProfiles(signal: AbortSignal): Promise<VpcProfile[]> {
    return gather(this.#pages<VpcProfile>('ListInstanceProfiles', '/instance/profiles', 'profiles', {}, signal));
  }

  async getRegion(name: string, signal: AbortSignal): Promise<{ readonly status: string } | undefined> {
    return this.#find('GetRegion', `/regions/${encodeURIComponent(name)}`, signal);
  }

  async listZones(region: string, signal: AbortSignal): Promise<string[]> {
    const path = `/regions/${encodeURIComponent(region)}/zones`;
    const { zones } = await this.#api.call<{ zones: readonly { name: string }[] }>(
      'ListRegionZones',
      { method: 'GET', path },
      signal,
    );
    return zones.map(({ name }) => name);
  }

  getVpc(id: string, signal: AbortSignal): Promise<(Named & { readonly default_security_group: Named }) | undefined> {
    return this.#find('GetVPC', `/vpcs/${encodeURIComponent(id)}`, signal);
  }

  getSubnet(id: string, signal: AbortSignal): Promise<VpcSubnet | undefined> {
    return this.#find('GetSubnet', `/subnets/${encodeURIComponent(id)}`, signal);
  }

  listSubnets(vpcId: string, signal: AbortSignal): Promise<VpcSubnet[]> {
    return gather(this.#pages<VpcSubnet>('ListSubnets', '/subnets', 'subnets', { 'vpc.id': vpcId }, signal));
  }

  getSecurityGroup(
    id: string,
    signal: AbortSignal,
  ): Promise<(Named & { readonly vpc: { readonly id: string } }) | undefined> {
    return this.#find('GetSecurityGroup', `/security_groups/${encodeURIComponent(id)}`, signal);
  }

  getKey(id: string, signal: AbortSignal): Promise<Named | undefined> {
    return this.#find('GetKey', `/keys/${encodeURIComponent(id)}`, signal);
  }

  getImage(id: string, signal: AbortSignal): Promise<VpcImage | undefined> {
    return this.#find('GetImage', `/images/${encodeURIComponent(id)}`, signal);
  }

  listImages(visibility: 'public' | 'private', signal: AbortSignal): Promise<VpcImage[]> {
    return gather(this.#pages<VpcImage>('ListImages', '/images', 'images', { visibility }, signal));
  }

  /** The kind of a placement target; undefined if it does not exist. */
  async placementTargetKind(
    id: string,
    signal: AbortSignal,
  ): Promise<'PlacementGroup' | 'DedicatedHost' | 'DedicatedHostGroup' | undefined> {
    const kinds = [
      ['PlacementGroup', '/placement_groups/'],
      ['DedicatedHost', '/dedicated_hosts/'],
      ['DedicatedHostGroup', '/dedicated_host/groups/'],
    ] as const;
    for (const [kind, path] of kinds)
      if ((await this.#find(`Get${kind}`, `${path}${encodeURIComponent(id)}`, signal)) !== undefined) return kind;
    return undefined;
  }

  volumesNamed(name: string | undefined, signal: AbortSignal): Promise<VpcVolume[]> {
    return gather(this.#pages<VpcVolume>('ListVolumes', '/volumes', 'volumes', { name }, signal));
  }

  deleteVolume(id: string, signal: AbortSignal): Promise<void> {
    return this.#delete('DeleteVolume', `/volumes/${encodeURIComponent(id)}`, signal);
  }

  interfacesNamed(name: string | undefined, signal: AbortSignal): Promise<VpcInterface[]> {
    const path = '/virtual_network_interfaces';
    return gather(
      this.#pages<VpcInterface>('ListVirtualNetworkInterfaces', path, 'virtual_network_interfaces', { name }, signal),
    );
  }

  deleteInterface(id: string, signal: AbortSignal): Promise<void> {
    return this.#delete(
      'DeleteVirtualNetworkInterface',
      `/virtual_network_interfaces/${encodeURIComponent(id)}`,
      signal,
    );
  }

  getLoadBalancer(id: string, signal: AbortSignal): Promise<{ readonly provisioning_status: string } | undefined> {
    return this.#find('GetLoadBalancer', `/load_balancers/${encodeURIComponent(id)}`, signal);
  }

  async loadBalancerPools(id: string, signal: AbortSignal): Promise<readonly Named[]> {
    const path = `/load_balancers/${encodeURIComponent(id)}/pools`;
    return (await this.#api.call<{ pools: readonly Named[] }>('ListLoadBalancerPools', { method: 'GET', path }, signal))
      .pools;
  }

  async poolMembers(balancer: string, pool: string, signal: AbortSignal): Promise<readonly VpcPoolMember[]> {
    const path = membersPath(balancer, pool);
    return (
      await this.#api.call<{ members: readonly VpcPoolMember[] }>(
        'ListLoadBalancerPoolMembers',
        { method: 'GET', path },
        signal,
      )
    ).members;
  }

  addPoolMember(
    balancer: string,
    pool: string,
    member: { readonly port: number; readonly weight: number; readonly target: { readonly id: string } },
    signal: AbortSignal,
  ): Promise<VpcPoolMember> {
    const call = { method: 'POST', path: membersPath(balancer, pool), body: member } as const;
    return this.#api.call('CreateLoadBalancerPoolMember', call, signal);
  }

  removePoolMember(balancer: string, pool: string, member: string, signal: AbortSignal): Promise<void> {
    return this.#delete(
      'DeleteLoadBalancerPoolMember',
      `${membersPath(balancer, pool)}/${encodeURIComponent(member)}`,
      signal,
      false,
    );
  }

  async #find<T>(operation: string, path: string, signal: AbortSignal): Promise<T | undefined> {
    try {
      return await this.#api.call<T>(operation, { method: 'GET', path }, signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #delete(operation: string, path: string, signal: AbortSignal, underWayIsFine = true): Promise<void> {
    try {
      await this.#api.call(operation, { method: 'DELETE', path }, signal);
    } catch (error) {
      const status = (error as { details?: { status?: number } }).details?.status;
      if (status !== 404 && !(status === 409 && underWayIsFine)) throw error;
    }
  }

  async *#pages<T>(
    operation: string,
    path: string,
    field: string,
    query: Query,
    signal: AbortSignal,
  ): AsyncGenerator<readonly T[]> {
    let start: string | undefined;
    do {
      const call = { method: 'GET', path, query: { ...query, limit: PAGE, start } } as const;
      const body = await this.#api.call<Record<string, unknown> & Page>(operation, call, signal);
      yield (body[field] ?? []) as readonly T[];
      start = nextStart(body);
    } while (start !== undefined);
  }
}

interface Page {
  readonly next?: { readonly href: string };
}

function nextStart({ next }: Page): string | undefined {
  return next === undefined ? undefined : (new URL(next.href, 'https://vpc').searchParams.get('start') ?? undefined);
}

function queryOf(filter: InstanceFilter): Query {
  return {
    name: filter.name,
    'vpc.id': filter.vpcId,
    'resource_group.id': filter.resourceGroupId,
    'availability.class': filter.availabilityClass,
  };
}

function membersPath(balancer: string, pool: string): string {
  return `/load_balancers/${encodeURIComponent(balancer)}/pools/${encodeURIComponent(pool)}/members`;
}

async function gather<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}
