/** POST /instances: the prototype is checked as the API does it, and answered by 201 also where there is no capacity. */
import type { RegionWorld, StoredInstance, StoredSubnet } from './region-world.ts';
import { WireError } from './wire-request.ts';

interface Named {
  readonly id?: string;
  readonly name?: string;
}

/** As much of InstancePrototype as the server looks at; unknown fields are refused as the API refuses them. */
interface Prototype {
  readonly name?: string;
  readonly profile?: Named;
  readonly zone?: Named;
  readonly vpc?: Named;
  readonly image?: Named;
  readonly keys?: readonly Named[];
  readonly user_data?: string;
  readonly resource_group?: Named;
  readonly availability?: { readonly class?: string };
  readonly availability_policy?: { readonly host_failure?: string; readonly preemption?: string };
  readonly reservation_affinity?: { readonly policy?: string; readonly pool?: readonly Named[] };
  readonly placement_target?: Named;
  readonly metadata_service?: {
    readonly enabled?: boolean;
    readonly protocol?: string;
    readonly response_hop_limit?: number;
  };
  readonly boot_volume_attachment?: VolumeAttachment;
  readonly volume_attachments?: readonly VolumeAttachment[];
  readonly primary_network_attachment?: {
    readonly name?: string;
    readonly virtual_network_interface?: {
      readonly name?: string;
      readonly subnet?: Named;
      readonly security_groups?: readonly Named[];
      readonly allow_ip_spoofing?: boolean;
      readonly enable_infrastructure_nat?: boolean;
      readonly auto_delete?: boolean;
      readonly resource_group?: Named;
    };
  };
  readonly primary_network_interface?: unknown;
}

interface VolumeAttachment {
  readonly name?: string;
  readonly delete_volume_on_instance_delete?: boolean;
  readonly volume?: {
    readonly name?: string;
    readonly capacity?: number;
    readonly iops?: number;
    readonly bandwidth?: number;
    readonly profile?: Named;
    readonly user_tags?: readonly string[];
    readonly encryption_key?: { readonly crn?: string };
  };
}

const KNOWN = new Set([
  ...['name', 'profile', 'zone', 'vpc', 'image', 'keys', 'user_data', 'resource_group', 'availability'],
  ...['availability_policy', 'reservation_affinity', 'placement_target', 'metadata_service', 'boot_volume_attachment'],
  ...['volume_attachments', 'primary_network_attachment', 'primary_network_interface', 'total_volume_bandwidth'],
]);
const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** Makes the machine, or refuses the prototype. */
export function createInstance(world: RegionWorld, body: unknown): StoredInstance {
  const prototype = body as Prototype;
  for (const field of Object.keys(prototype))
    if (!KNOWN.has(field)) throw new WireError(400, 'bad_field', `The field ${field} is not expected`, { field });
  const name = checkedName(world, prototype.name ?? `instance-${world.refs.uuid().slice(0, 8)}`);
  const profile = world.profiles.find((one) => one.name === (prototype.profile?.name ?? 'bxf-2x8'));
  if (profile === undefined)
    throw new WireError(400, 'invalid_profile_error', `The profile ${prototype.profile?.name} does not exist`, {
      field: 'profile.name',
    });
  const zone = prototype.zone?.name ?? '';
  if (!world.zones.includes(zone))
    throw new WireError(400, 'not_found', `The zone ${zone} does not exist`, { field: 'zone.name' });
  if (profile.zones?.includes(zone) === false)
    throw new WireError(400, 'invalid_zone', `The profile ${profile.name} is not available in zone ${zone}`, {
      field: 'zone.name',
    });
  const image = world.images.find((one) => one.id === prototype.image?.id);
  if (image === undefined)
    throw new WireError(404, 'not_found', `Image ${prototype.image?.id} not found`, { field: 'image.id' });
  if (image.status === 'obsolete') throw new WireError(400, 'image_status_obsolete', `Image ${image.id} is obsolete`);
  if (image.architecture !== (profile.architecture ?? 'amd64'))
    throw new WireError(400, 'bad_field', `Image ${image.id} cannot boot on profile ${profile.name}`, {
      field: 'image.id',
    });
  for (const key of prototype.keys ?? [])
    if (!world.keys.some(({ id }) => id === key.id)) throw new WireError(404, 'not_found', `Key ${key.id} not found`);
  const group = prototype.resource_group?.id ?? world.resourceGroups[0]?.id ?? '';
  if (!world.resourceGroups.some(({ id }) => id === group))
    throw new WireError(400, 'not_found', `Resource group ${group} not found`, { field: 'resource_group.id' });
  const subnet = checkedNetwork(world, prototype, zone);
  const spot = checkedClass(prototype, profile.classes, profile.name);
  if (world.instances.size >= world.faults.quota)
    throw new WireError(400, 'over_quota', 'Creating a new resource will put the user over quota. Quota: instances');
  const boot = prototype.boot_volume_attachment?.volume ?? {};
  const capacity = boot.capacity ?? 100;
  if (capacity < 10 || capacity > 250)
    throw new WireError(400, 'bad_field', `Boot volume capacity ${capacity} is not between 10 and 250`, {
      field: 'boot_volume_attachment.volume.capacity',
    });
  return stored(world, { prototype, name, profile, zone, image, group, subnet, spot, capacity });
}

function checkedName(world: RegionWorld, name: string): string {
  if (!NAME.test(name) || name.length > 63 || name.startsWith('ibm-'))
    throw new WireError(400, 'bad_field', `The name ${name} is not valid`, { field: 'name' });
  if ([...world.instances.values()].some((one) => one.name === name))
    throw new WireError(400, 'validation_unique_failed', `Provided Name (${name}) is not unique`, { field: 'name' });
  return name;
}

function checkedNetwork(world: RegionWorld, prototype: Prototype, zone: string): StoredSubnet {
  const attachment = prototype.primary_network_attachment;
  const wanted = attachment?.virtual_network_interface;
  if (wanted === undefined || prototype.primary_network_interface !== undefined)
    throw new WireError(
      400,
      'bad_field',
      'Expected only one oneOf fields to be set: got 0 or 2 (primary_network_attachment, primary_network_interface)',
    );
  const subnet = world.network.subnets.find(({ id }) => id === wanted.subnet?.id);
  if (subnet === undefined) throw new WireError(404, 'not_found', `Subnet ${wanted.subnet?.id} not found`);
  if (subnet.zone !== zone)
    throw new WireError(400, 'bad_field', `Subnet ${subnet.id} is in zone ${subnet.zone}, not in ${zone}`, {
      field: 'primary_network_attachment.virtual_network_interface.subnet',
    });
  if (prototype.vpc?.id !== undefined && prototype.vpc.id !== world.network.vpc.id)
    throw new WireError(400, 'conflict_field', 'The VPC is not that of the subnet', { field: 'vpc.id' });
  if (wanted.enable_infrastructure_nat === false)
    throw new WireError(400, 'bad_field', 'enable_infrastructure_nat must be true on a virtual server instance');
  for (const groupOf of wanted.security_groups ?? [])
    if (!world.network.securityGroups.some(({ id }) => id === groupOf.id))
      throw new WireError(404, 'not_found', `Security group ${groupOf.id} not found`);
  if (subnet.used >= subnet.total)
    throw new WireError(400, 'subnet_no_addresses', `Subnet ${subnet.id} has no free address`);
  const name = wanted.name;
  if (name !== undefined && [...world.interfaces.values()].some((one) => one.name === name))
    throw new WireError(400, 'validation_unique_failed', `Provided Name (${name}) is not unique`, {
      field: 'primary_network_attachment.virtual_network_interface.name',
    });
  const volume = prototype.boot_volume_attachment?.volume?.name;
  if (volume !== undefined && [...world.volumes.values()].some((one) => one.name === volume))
    throw new WireError(400, 'validation_unique_failed', `Provided Name (${volume}) is not unique`, {
      field: 'boot_volume_attachment.volume.name',
    });
  return subnet;
}

/** The rules of spot: `If spot is specified, reservation_affinity.policy must be disabled, placement_target no dedicated host`. */
function checkedClass(prototype: Prototype, classes: readonly string[], profile: string): boolean {
  const asked = prototype.availability?.class ?? (classes.includes('standard') ? 'standard' : 'spot');
  if (!classes.includes(asked))
    throw new WireError(400, 'bad_field', `The availability class ${asked} is not supported by profile ${profile}`, {
      field: 'availability.class',
    });
  const policy = prototype.reservation_affinity?.policy ?? 'automatic';
  const target = prototype.placement_target;
  if (asked === 'spot' && policy !== 'disabled')
    throw new WireError(400, 'conflict_field', 'reservation_affinity.policy must be disabled for spot', {
      field: 'reservation_affinity.policy',
    });
  if (asked === 'spot' && target !== undefined && !`${target.id}`.includes('placement'))
    throw new WireError(400, 'conflict_field', 'placement_target must not be a dedicated host for spot', {
      field: 'placement_target',
    });
  if (target !== undefined && policy !== 'disabled')
    throw new WireError(400, 'conflict_field', 'reservation_affinity.policy must be disabled with placement_target', {
      field: 'reservation_affinity.policy',
    });
  return asked === 'spot';
}

interface Checked {
  readonly prototype: Prototype;
  readonly name: string;
  readonly profile: StoredInstance['profile'];
  readonly zone: string;
  readonly image: { readonly id: string };
  readonly group: string;
  readonly subnet: StoredSubnet;
  readonly spot: boolean;
  readonly capacity: number;
}

function stored(world: RegionWorld, checked: Checked): StoredInstance {
  const { prototype, name, profile, zone, subnet, spot } = checked;
  const id = world.refs.zonalId(zone, '_');
  const now = world.clock.now();
  const volumeIds = [checked, ...(prototype.volume_attachments ?? [])].map((_, index) => {
    const attachment = index === 0 ? prototype.boot_volume_attachment : prototype.volume_attachments?.[index - 1];
    const wanted = attachment?.volume ?? {};
    const volume = {
      id: `${world.refs.regionalId()}`,
      name: wanted.name ?? `volume-${world.refs.uuid().slice(0, 8)}`,
      zone,
      capacity: wanted.capacity ?? 100,
      profile: wanted.profile?.name ?? 'general-purpose',
      iops: wanted.iops ?? 3000,
      userTags: wanted.user_tags ?? [],
      createdAt: now,
      imageId: index === 0 ? checked.image.id : undefined,
      instanceId: id,
      deleteWithInstance: attachment?.delete_volume_on_instance_delete ?? index === 0,
    };
    world.volumes.set(volume.id, volume);
    return volume.id;
  });
  const attachment = prototype.primary_network_attachment;
  const vni = attachment?.virtual_network_interface ?? {};
  const interfaceId = world.refs.zonalId(zone, '-');
  subnet.used++;
  world.interfaces.set(interfaceId, {
    id: interfaceId,
    name: vni.name ?? `vni-${world.refs.uuid().slice(0, 8)}`,
    subnet,
    address: world.nextAddress(zone),
    securityGroups: vni.security_groups?.flatMap((one) => one.id ?? []) ?? [world.network.vpc.defaultGroup],
    autoDelete: vni.auto_delete ?? true,
    createdAt: now,
    instanceId: id,
  });
  const availabilityClass = spot ? 'spot' : 'standard';
  const fails = world.hasCapacity(availabilityClass, profile.name, zone)
    ? undefined
    : ({
        status: 'failed',
        code: world.faults.capacityCode,
        message: `There is no capacity for ${profile.name} in ${zone}`,
      } as const);
  const instance: StoredInstance = {
    id,
    name,
    createdAt: now,
    profile,
    zone,
    vpcId: world.network.vpc.id,
    resourceGroup: checked.group,
    imageId: checked.image.id,
    availabilityClass,
    preemption: prototype.availability_policy?.preemption === 'delete' ? 'delete' : 'stop',
    hostFailure: prototype.availability_policy?.host_failure === 'stop' ? 'stop' : 'restart',
    affinity: (prototype.reservation_affinity?.policy ?? 'automatic') as StoredInstance['affinity'],
    userData: prototype.user_data ?? '',
    metadataEnabled: prototype.metadata_service?.enabled ?? false,
    keys: prototype.keys?.flatMap((key) => key.id ?? []) ?? [],
    placementTarget: prototype.placement_target,
    bootVolumeId: volumeIds[0] ?? '',
    volumeIds,
    interfaceId,
    attachmentName: attachment?.name ?? 'eth0',
    bootAttachmentName: prototype.boot_volume_attachment?.name ?? 'boot',
    fails,
    runsAfterMs: world.startMs,
    stopped: undefined,
    deletedAt: undefined,
    deletesAfterMs: world.deleteMs,
  };
  world.instances.set(id, instance);
  world.made.set(name, (world.made.get(name) ?? 0) + 1);
  return instance;
}
