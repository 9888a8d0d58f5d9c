/** Instances of EC2 for AWSMachines: one RunInstances for one machine, as CAPA does it. */
import { gzipSync } from 'node:zlib';
import type { Instance } from '@aws-sdk/client-ec2';
import type { Clock } from '../../../../platform/clock.ts';
import { SpindriftError } from '../../../../platform/errors.ts';
import { type AwsApi, allPages } from '../../../aws/api/aws-api.ts';
import { awsCodeOf } from '../../../aws/api/aws-error.ts';
import { fleetErrorMeaning } from '../../../aws/launch/fleet-error.ts';
import { Instances, instancesOf } from '../../../aws/machines/instances.ts';
import { parseProviderID, providerIDOf } from '../../../aws/machines/provider-id.ts';
import { objectAt, textAt } from '../../infrastructure/machine-settings.ts';
import type { InfrastructureObject } from '../../infrastructure-objects.ts';
import type { InstanceCloud, InstanceOrder, InstancePlace, MachineAddress, SeenInstance } from '../instance-cloud.ts';
import { PROVIDED_KINDS } from '../provided-kinds.ts';
import { missingInAwsCluster, type ResolvedImage, runInstancesInput, TAG_MACHINE_UID } from './run-instances-input.ts';

/** The account that publishes images for Cluster API on AWS. */
const IMAGE_OWNER = '819546954734';
interface Region {
  readonly api: AwsApi;
  /** Asks and ends many instances in one call. */
  readonly instances: Instances;
}

const GONE = new Set(['terminated', 'shutting-down']);

export class AwsInstances implements InstanceCloud {
  readonly kinds = PROVIDED_KINDS.aws;
  /** DescribeInstances shows a new instance some seconds late. */
  readonly settleMs = 60_000;
  readonly #clock: Clock;
  readonly #open: (region: string) => AwsApi;
  readonly #regions = new Map<string, Region>();

  /** Takes how to open the API of a region. */
  constructor(clock: Clock, open: (region: string) => AwsApi) {
    this.#clock = clock;
    this.#open = open;
  }

  missing({ spec = {} }: InfrastructureObject): string | undefined {
    return missingInAwsCluster(spec);
  }

  async create(order: InstanceOrder, signal: AbortSignal): Promise<SeenInstance> {
    const image = await this.#image(order, signal);
    const packed = gzipSync(order.userData);
    const userData = packed.length < order.userData.length ? packed : order.userData;
    try {
      const input = runInstancesInput(order, image, userData);
      const { Instances: made = [] } = await this.#region(order).api.call('ec2:RunInstances', input, signal);
      const [instance] = made;
      if (instance !== undefined) return seen(instance);
    } catch (error) {
      throw launchFailure(order.machine, error);
    }
    throw new SpindriftError('CLOUD_UNAVAILABLE', { operation: 'ec2:RunInstances', problem: 'no instance came back' });
  }

  async find(place: InstancePlace, signal: AbortSignal): Promise<SeenInstance | undefined> {
    const found = await this.#find(place, signal);
    return found && seen(found);
  }

  async remove(place: InstancePlace, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const found = await this.#find(place, signal);
    if (found === undefined || found.State?.Name === 'terminated') return 'gone';
    if (found.State?.Name === 'shutting-down') return 'terminating';
    const wasThere = await this.#region(place).instances.terminate(found.InstanceId ?? '', signal);
    return wasThere ? 'terminating' : 'gone';
  }

  /** By its ID once that is known, many in one call; by the machine's UID before, where one that lives counts before one that ends. */
  async #find(place: InstancePlace, signal: AbortSignal): Promise<Instance | undefined> {
    const { api, instances } = this.#region(place);
    const id = place.providerID && parseProviderID(place.providerID)?.instanceId;
    if (id) return instances.get(id, signal);
    const query = { Filters: [{ Name: `tag:${TAG_MACHINE_UID}`, Values: [place.uid] }], MaxResults: 100 };
    const found = await allPages(api, 'ec2:DescribeInstances', query, instancesOf, signal);
    return found.find(({ State }) => !GONE.has(State?.Name ?? '')) ?? found[0];
  }

  async #image(order: InstanceOrder, signal: AbortSignal): Promise<ResolvedImage> {
    const own = textAt(objectAt(order.spec, 'ami') ?? {}, 'id');
    const query =
      own === undefined
        ? {
            Owners: [lookup(order, 'imageLookupOrg') ?? IMAGE_OWNER],
            Filters: [{ Name: 'name', Values: [imageName(order)] }],
          }
        : { ImageIds: [own] };
    const { Images = [] } = await this.#region(order).api.call('ec2:DescribeImages', query, signal);
    const [newest] = [...Images].sort((a, b) => ((a.CreationDate ?? '') < (b.CreationDate ?? '') ? 1 : -1));
    if (newest?.ImageId !== undefined) return { id: newest.ImageId, rootDevice: newest.RootDeviceName ?? '/dev/sda1' };
    const problem = `there is no image ${own ?? imageName(order)} for ${order.machine}: set spec.ami.id`;
    throw new SpindriftError('CLOUD_REFUSED', { operation: 'ec2:DescribeImages', problem });
  }

  #region({ cluster, clusterName }: InstancePlace): Region {
    const name = textAt(cluster.spec ?? {}, 'region') ?? '';
    const known = this.#regions.get(name);
    if (known !== undefined) return known;
    const api = this.#open(name);
    const region = { api, instances: new Instances(api, this.#clock, clusterName) };
    this.#regions.set(name, region);
    return region;
  }
}

/** CAPA's default name of images, whose version goes without its `v` after a `?`. */
function imageName(order: InstanceOrder): string {
  const system = lookup(order, 'imageLookupBaseOS') ?? 'ubuntu-24.04';
  const format = lookup(order, 'imageLookupFormat') ?? 'capa-ami-{{.BaseOS}}-?{{.K8sVersion}}-*';
  return format
    .replaceAll('{{.BaseOS}}', system)
    .replaceAll('{{.K8sVersion}}', (order.version ?? '').replace(/^v/, ''));
}

function lookup({ spec, cluster }: InstanceOrder, field: string): string | undefined {
  return textAt(spec, field) ?? textAt(cluster.spec ?? {}, field);
}

const STATES: Readonly<Record<string, SeenInstance['state']>> = {
  pending: 'pending',
  running: 'running',
  stopping: 'stopping',
  stopped: 'stopped',
  'shutting-down': 'gone',
  terminated: 'gone',
};

function seen(instance: Instance): SeenInstance {
  const { InstanceId: instanceID = '', Placement, State } = instance;
  const zone = Placement?.AvailabilityZone ?? '';
  const stateText = State?.Name ?? 'pending';
  return {
    providerID: providerIDOf(zone, instanceID),
    state: STATES[stateText] ?? 'pending',
    stateText,
    zone,
    addresses: addressesOf(instance),
    spec: { instanceID },
  };
}

function addressesOf(instance: Instance): readonly MachineAddress[] {
  const { PrivateDnsName, PrivateIpAddress, PublicDnsName, PublicIpAddress } = instance;
  const known: readonly (readonly [MachineAddress['type'], string | undefined])[] = [
    ['InternalDNS', PrivateDnsName],
    ['InternalIP', PrivateIpAddress],
    ['ExternalDNS', PublicDnsName],
    ['ExternalIP', PublicIpAddress],
  ];
  return known.flatMap(([type, address]) => (address === undefined || address === '' ? [] : [{ type, address }]));
}

/** What EC2 refuses for want of capacity, quota or price is lasting for this machine; an unclear token mismatch is not. */
function launchFailure(machine: string, error: unknown): unknown {
  if (!(error instanceof SpindriftError)) return error;
  const code = awsCodeOf(error);
  const problem = error.message;
  if (code === 'IdempotentParameterMismatch')
    return new SpindriftError('CLOUD_UNAVAILABLE', { operation: 'ec2:RunInstances', problem }, { cause: error });
  const meaning = fleetErrorMeaning(code, problem);
  if (meaning.kind === 'offering')
    return meaning.cause === 'quota'
      ? new SpindriftError('CLOUD_QUOTA_EXCEEDED', { claim: machine, problem }, { cause: error })
      : new SpindriftError('CLOUD_INSUFFICIENT_CAPACITY', { claim: machine, offerings: problem }, { cause: error });
  if (meaning.kind === 'subnet')
    return new SpindriftError('CLOUD_INSUFFICIENT_CAPACITY', { claim: machine, offerings: problem }, { cause: error });
  return error;
}
