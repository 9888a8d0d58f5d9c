/**
 * What there is in one region of an IBM Cloud account, by the clock that is passed in: networks, images, machines with their
 * volumes and interfaces, capacity and quotas, and what goes wrong. Statuses follow from the time that has passed, so that
 * no timer is needed.
 */
import { type Clock, type EpochMs, toTimestamp } from '../../../src/platform/clock.ts';
import type { Random } from '../../../src/platform/random.ts';
import { PROFILES, type ProfileShape } from './profiles.ts';
import { References, zonePrefix } from './references.ts';

export interface Network {
  readonly vpc: { readonly id: string; readonly name: string; readonly defaultGroup: string };
  readonly subnets: StoredSubnet[];
  readonly securityGroups: { readonly id: string; readonly name: string }[];
}

export interface StoredSubnet {
  readonly id: string;
  readonly name: string;
  readonly zone: string;
  status: 'available' | 'pending';
  total: number;
  used: number;
}

export interface StoredImage {
  readonly id: string;
  readonly name: string;
  readonly createdAt: EpochMs;
  readonly architecture: 'amd64' | 's390x' | 'arm64';
  readonly visibility: 'public' | 'private';
  status: 'available' | 'deprecated' | 'obsolete';
  readonly userDataFormat: 'cloud_init' | 'esxi_kickstart' | 'ipxe';
}

export interface StoredVolume {
  readonly id: string;
  readonly name: string;
  readonly zone: string;
  readonly capacity: number;
  readonly profile: string;
  readonly iops: number;
  readonly userTags: readonly string[];
  readonly createdAt: EpochMs;
  readonly imageId: string | undefined;
  instanceId: string | undefined;
  readonly deleteWithInstance: boolean;
}

export interface StoredInterface {
  readonly id: string;
  readonly name: string;
  readonly subnet: StoredSubnet;
  readonly address: string;
  readonly securityGroups: readonly string[];
  readonly autoDelete: boolean;
  readonly createdAt: EpochMs;
  instanceId: string | undefined;
}

export interface StoredInstance {
  readonly id: string;
  readonly name: string;
  readonly createdAt: EpochMs;
  readonly profile: ProfileShape;
  readonly zone: string;
  readonly vpcId: string;
  readonly resourceGroup: string;
  readonly imageId: string;
  readonly availabilityClass: 'standard' | 'spot';
  readonly preemption: 'stop' | 'delete';
  readonly hostFailure: 'restart' | 'stop';
  readonly affinity: 'automatic' | 'disabled' | 'manual';
  readonly userData: string;
  readonly metadataEnabled: boolean;
  readonly keys: readonly string[];
  readonly placementTarget: unknown;
  readonly bootVolumeId: string;
  readonly volumeIds: readonly string[];
  readonly interfaceId: string;
  readonly attachmentName: string;
  readonly bootAttachmentName: string;
  /** What it fails with while it starts; undefined when it comes up. */
  readonly fails:
    | { readonly status: 'failed' | 'stopped'; readonly code: string; readonly message: string }
    | undefined;
  readonly runsAfterMs: number;
  stopped: { readonly at: EpochMs; readonly code?: string; readonly message?: string } | undefined;
  deletedAt: EpochMs | undefined;
  deletesAfterMs: number;
}

export interface StoredMember {
  readonly id: string;
  readonly port: number;
  readonly weight: number;
  readonly instanceId: string;
  readonly createdAt: EpochMs;
}

export interface StoredBalancer {
  readonly id: string;
  readonly pools: { readonly id: string; readonly name: string; readonly members: StoredMember[] }[];
  /** Until when it takes no further change. */
  busyUntil: EpochMs;
}

/** What goes wrong; tests change it while the server runs. */
export interface Faults {
  /** Key `class:profile:zone`, each part `*` for all: it answers 201 and fails afterwards. */
  readonly noCapacity: Set<string>;
  /** Status reason of those failures. */
  capacityCode: string;
  /** Instances that exist count; POST beyond is refused with over_quota. */
  quota: number;
  /** Requests per window of a second; beyond it 429 with Retry-After. */
  requestsPerSecond: number;
  /** A create that fails leaves its interface and volume behind. */
  leavesLeftovers: boolean;
  /** Looked at before each request is carried out: an answer instead of it. */
  before:
    | ((request: {
        method: string;
        path: string;
        query: URLSearchParams;
      }) => { status: number; code: string } | undefined)
    | undefined;
}

export interface RegionWorldOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly region?: string;
  readonly zones?: number;
  /** The address that hrefs begin with, ending in /v1. */
  readonly base?: string;
  readonly profiles?: readonly ProfileShape[];
  /** Where it has a dedicated host or host group, called `0717-` and this word. */
  readonly dedicated?: 'hosts' | 'hostGroups' | undefined;
}

export class RegionWorld {
  readonly clock: Clock;
  readonly region: string;
  readonly refs: References;
  readonly zones: readonly string[];
  readonly profiles: readonly ProfileShape[];
  readonly network: Network;
  readonly images: StoredImage[] = [];
  readonly keys: { readonly id: string; readonly name: string }[] = [];
  readonly resourceGroups = [{ id: 'a1b2c3d4e5f60718293a4b5c6d7e8f90', name: 'Default' }];
  readonly instances = new Map<string, StoredInstance>();
  readonly volumes = new Map<string, StoredVolume>();
  readonly interfaces = new Map<string, StoredInterface>();
  readonly balancers = new Map<string, StoredBalancer>();
  /** Names by ID. */
  readonly placementGroups = new Map<string, string>();
  readonly dedicatedHosts = new Map<string, string>();
  readonly dedicatedHostGroups = new Map<string, string>();
  /** Tags by CRN. */
  readonly tags = new Map<string, Set<string>>();
  readonly faults: Faults = {
    noCapacity: new Set(),
    capacityCode: 'cannot_start_capacity',
    quota: Number.POSITIVE_INFINITY,
    requestsPerSecond: Number.POSITIVE_INFINITY,
    leavesLeftovers: false,
    before: undefined,
  };
  /** Every request that came, for counting. */
  readonly requests: string[] = [];
  /** How many instances were ever made, by name. */
  readonly made = new Map<string, number>();
  /** Instances that run from now on are up after this long, and gone this long after their deletion. */
  startMs = 20_000;
  deleteMs = 5000;
  #address = 4;

  constructor(options: RegionWorldOptions) {
    const { clock, random, region = 'us-south', zones = 3, base = 'http://vpc.test/v1' } = options;
    this.clock = clock;
    this.region = region;
    this.profiles = options.profiles ?? PROFILES;
    this.refs = new References({ region, base, random: random.split('ids') });
    this.zones = Array.from({ length: zones }, (_, index) => `${region}-${index + 1}`);
    const defaultGroup = this.refs.regionalId();
    const vpc = { id: this.refs.regionalId(), name: 'cluster-vpc', defaultGroup };
    this.network = {
      vpc,
      subnets: this.zones.map((zone) => ({
        id: this.refs.zonalId(zone, '-'),
        name: `nodes-${zone}`,
        zone,
        status: 'available',
        total: 4096,
        used: 10,
      })),
      securityGroups: [
        { id: defaultGroup, name: 'default-group' },
        { id: this.refs.regionalId(), name: 'nodes-group' },
      ],
    };
    for (const [build, day] of [
      ['1', 40],
      ['2', 10],
    ] as const)
      this.addImage(`ibm-ubuntu-24-04-3-minimal-amd64-${build}`, day);
    this.addImage('ibm-ubuntu-22-04-5-minimal-amd64-7', 20);
    this.addImage('ibm-ubuntu-24-04-3-minimal-s390x-1', 15, { architecture: 's390x' });
    if (options.dedicated === 'hosts') this.dedicatedHosts.set('0717-hosts', 'host');
    if (options.dedicated === 'hostGroups') this.dedicatedHostGroups.set('0717-hostGroups', 'hosts');
    this.keys.push({ id: this.refs.regionalId(), name: 'ops' });
  }

  /** An image that was made so many days ago. */
  addImage(name: string, daysAgo: number, more: Partial<StoredImage> = {}): StoredImage {
    const image: StoredImage = {
      id: this.refs.regionalId(),
      name,
      createdAt: (this.clock.now() - daysAgo * 86_400_000) as EpochMs,
      architecture: 'amd64',
      visibility: 'public',
      status: 'available',
      userDataFormat: 'cloud_init',
      ...more,
    };
    this.images.push(image);
    return image;
  }

  addBalancer(poolName: string): StoredBalancer {
    const balancer: StoredBalancer = {
      id: this.refs.regionalId(),
      pools: [{ id: this.refs.regionalId(), name: poolName, members: [] }],
      busyUntil: this.clock.now(),
    };
    this.balancers.set(balancer.id, balancer);
    return balancer;
  }

  nextAddress(zone: string): string {
    this.#address++;
    return `10.240.${(Number(zonePrefix(zone)) % 7) * 32 + Math.floor(this.#address / 250)}.${this.#address % 250}`;
  }

  /** The status of an instance now, with its reasons. */
  statusOf(instance: StoredInstance): { status: string; reasons: { code: string; message: string }[] } {
    const age = this.clock.now() - instance.createdAt;
    if (instance.deletedAt !== undefined) return { status: 'deleting', reasons: [] };
    if (instance.stopped !== undefined) {
      const { code, message = '' } = instance.stopped;
      return { status: 'stopped', reasons: code === undefined ? [] : [{ code, message }] };
    }
    if (instance.fails !== undefined && age >= instance.runsAfterMs / 2) {
      const { status, code, message } = instance.fails;
      return { status, reasons: [{ code, message }] };
    }
    if (age < instance.runsAfterMs / 4) return { status: 'pending', reasons: [] };
    return { status: age < instance.runsAfterMs ? 'starting' : 'running', reasons: [] };
  }

  /** Takes away what has been deleted for long enough. */
  settle(): void {
    for (const instance of [...this.instances.values()]) {
      if (instance.deletedAt === undefined || this.clock.now() < instance.deletedAt + instance.deletesAfterMs) continue;
      this.instances.delete(instance.id);
      for (const id of instance.volumeIds) {
        const volume = this.volumes.get(id);
        if (volume?.deleteWithInstance === true) this.volumes.delete(id);
        else if (volume !== undefined) volume.instanceId = undefined;
      }
      const attached = this.interfaces.get(instance.interfaceId);
      if (attached?.autoDelete === true) this.removeInterface(attached.id);
      else if (attached !== undefined) attached.instanceId = undefined;
    }
  }

  removeInterface(id: string): void {
    const found = this.interfaces.get(id);
    if (found === undefined) return;
    found.subnet.used--;
    this.interfaces.delete(id);
  }

  /** IBM takes a spot machine back: as its policy says, it is stopped with the reason or deleted. */
  preempt(id: string): void {
    const instance = this.instances.get(id);
    if (instance === undefined || instance.availabilityClass !== 'spot')
      throw new Error(`${id} is not a spot instance`);
    const at = this.clock.now();
    if (instance.preemption === 'delete') instance.deletedAt = at;
    else instance.stopped = { at, code: 'stopped_by_preemption', message: 'The instance was stopped by preemption' };
  }

  /** Someone stops it by hand. */
  stop(id: string): void {
    const instance = this.instances.get(id);
    if (instance !== undefined) instance.stopped = { at: this.clock.now() };
  }

  hasCapacity(availabilityClass: string, profile: string, zone: string): boolean {
    return ![availabilityClass, '*'].some((a) =>
      [profile, '*'].some((b) => [zone, '*'].some((c) => this.faults.noCapacity.has(`${a}:${b}:${c}`))),
    );
  }

  at(time: EpochMs): string {
    return toTimestamp(time);
  }

  /** What is left of machines: instances, volumes and interfaces, for counting. */
  count(): { instances: number; volumes: number; interfaces: number } {
    this.settle();
    return { instances: this.instances.size, volumes: this.volumes.size, interfaces: this.interfaces.size };
  }
}
