/**
 * RunInstances for an AWSMachine: one instance, and where it is spot always a one-time request that is terminated when it is taken back,
 * which users can neither see nor change. Pure.
 */
import type { RunInstancesCommandInput, Tag } from '@aws-sdk/client-ec2';
import { SpindriftError } from '../../../../platform/errors.ts';
import { listAt, objectAt, type RawSpec, textAt } from '../../infrastructure/machine-settings.ts';
import type { InstanceOrder } from '../instance-cloud.ts';

/** The image of an order, looked up. */
export interface ResolvedImage {
  readonly id: string;
  readonly rootDevice: string;
}

/** The UID of the infrastructure machine, by which its instance is found. */
export const TAG_MACHINE_UID = 'spindrift.dev/machine-uid';
const CAPA = 'sigs.k8s.io/cluster-api-provider-aws';
/** EC2's own limit. */
const MOST_USER_DATA_BYTES = 16_384;

export function runInstancesInput(
  order: InstanceOrder,
  image: ResolvedImage,
  /** As it is sent: packed where that is shorter. */
  userData: Buffer,
): RunInstancesCommandInput {
  const { spec, settings, machine } = order;
  if (userData.length > MOST_USER_DATA_BYTES) {
    const problem = `the bootstrap data of ${machine} has ${userData.length} bytes when packed, and EC2 takes ${MOST_USER_DATA_BYTES}: make it shorter`;
    throw new SpindriftError('CLOUD_USER_DATA_INVALID', { problem });
  }
  const key = textAt(spec, 'sshKeyName') ?? textAt(order.cluster.spec ?? {}, 'sshKeyName');
  const profile = textAt(spec, 'iamInstanceProfile');
  const metadata = objectAt(spec, 'instanceMetadataOptions');
  const reservation = textAt(spec, 'capacityReservationId');
  const tenancy = textAt(spec, 'tenancy');
  const tags = tagsOf(order);
  return {
    ImageId: image.id,
    InstanceType: settings.instanceType as NonNullable<RunInstancesCommandInput['InstanceType']>,
    MinCount: 1,
    MaxCount: 1,
    // The same order is one launch, also when another process sends it again.
    ClientToken: order.uid,
    UserData: userData.toString('base64'),
    SubnetId: subnetOf(order),
    SecurityGroupIds: [...securityGroupsOf(order)],
    ...(key !== undefined && { KeyName: key }),
    ...(profile !== undefined && { IamInstanceProfile: { Name: profile } }),
    ...blockDevices(spec, image.rootDevice),
    ...(settings.spot !== undefined && {
      InstanceMarketOptions: {
        MarketType: 'spot',
        SpotOptions: {
          SpotInstanceType: 'one-time',
          InstanceInterruptionBehavior: 'terminate',
          ...(settings.spot.maxPrice !== undefined && { MaxPrice: settings.spot.maxPrice }),
        },
      },
    }),
    ...(textAt(spec, 'marketType') === 'CapacityBlock' && { InstanceMarketOptions: { MarketType: 'capacity-block' } }),
    ...(reservation !== undefined && {
      CapacityReservationSpecification: { CapacityReservationTarget: { CapacityReservationId: reservation } },
    }),
    ...(tenancy !== undefined && { Placement: { Tenancy: tenancy as 'default' | 'dedicated' | 'host' } }),
    MetadataOptions: {
      HttpEndpoint: metadata && textAt(metadata, 'httpEndpoint') === 'disabled' ? 'disabled' : 'enabled',
      HttpTokens: metadata && textAt(metadata, 'httpTokens') === 'optional' ? 'optional' : 'required',
      ...(typeof metadata?.httpPutResponseHopLimit === 'number' && {
        HttpPutResponseHopLimit: metadata.httpPutResponseHopLimit,
      }),
    },
    TagSpecifications: (['instance', 'volume'] as const).map((ResourceType) => ({ ResourceType, Tags: tags })),
  };
}

/** What keeps instances from being launched into an AWSCluster. */
export function missingInAwsCluster(spec: RawSpec): string | undefined {
  if (textAt(spec, 'region') === undefined) return 'spec.region is empty: name the region of the instances';
  if (subnetsOf(spec).length === 0)
    return 'spec.network.subnets is empty: name the subnets of the nodes by id and availabilityZone';
  return undefined;
}

function subnetOf({ spec, cluster, zone, machine }: InstanceOrder): string {
  const own = textAt(objectAt(spec, 'subnet') ?? {}, 'id');
  if (own !== undefined) return own;
  const inZone = subnetsOf(cluster.spec ?? {}).filter(
    (subnet) => zone === undefined || textAt(subnet, 'availabilityZone') === zone,
  );
  const wantsPublic = spec.publicIP === true;
  const chosen = inZone.find((subnet) => (subnet.isPublic === true) === wantsPublic) ?? inZone[0];
  // CAPA calls a subnet that it made by a name, and writes its ID beside it.
  const id = chosen && (textAt(chosen, 'resourceID') ?? textAt(chosen, 'id'));
  if (id !== undefined) return id;
  const problem = `AWSCluster ${cluster.metadata.name} has no subnet in ${zone ?? 'any zone'} for ${machine}: add one to spec.network.subnets, or set spec.subnet.id of the AWSMachine`;
  throw new SpindriftError('CLOUD_REFUSED', { operation: 'ec2:RunInstances', problem });
}

function subnetsOf(spec: RawSpec): readonly RawSpec[] {
  return listAt(objectAt(spec, 'network') ?? {}, 'subnets');
}

/** Those of the cluster for the role, and those of the machine. */
function securityGroupsOf({ spec, cluster, role }: InstanceOrder): readonly string[] {
  const additional = listAt(spec, 'additionalSecurityGroups').flatMap((group) => textAt(group, 'id') ?? []);
  const overrides = objectAt(spec, 'securityGroupOverrides') ?? {};
  const forCluster = objectAt(objectAt(cluster.spec ?? {}, 'network') ?? {}, 'securityGroupOverrides') ?? {};
  const network = objectAt((cluster.status ?? {}) as RawSpec, 'networkStatus') ?? {};
  const made = objectAt(network, 'securityGroups') ?? {};
  const named = (role === 'node' ? ['node', 'lb'] : ['node', 'controlplane', 'apiserver-lb']).flatMap((each) => {
    const id = textAt(overrides, each) ?? textAt(forCluster, each) ?? textAt(objectAt(made, each) ?? {}, 'id');
    return id ?? [];
  });
  return [...new Set([...named, ...additional])];
}

function blockDevices(spec: RawSpec, rootDevice: string): Pick<RunInstancesCommandInput, 'BlockDeviceMappings'> {
  const root = objectAt(spec, 'rootVolume');
  const mappings = [
    ...(root === undefined ? [] : [blockDevice(root, rootDevice)]),
    ...listAt(spec, 'nonRootVolumes').map((volume) => blockDevice(volume, textAt(volume, 'deviceName') ?? '')),
  ];
  return mappings.length === 0 ? {} : { BlockDeviceMappings: mappings };
}

type BlockDevice = NonNullable<RunInstancesCommandInput['BlockDeviceMappings']>[number];

function blockDevice(volume: RawSpec, DeviceName: string): BlockDevice {
  const type = textAt(volume, 'type');
  const key = textAt(volume, 'encryptionKey');
  return {
    DeviceName,
    Ebs: {
      DeleteOnTermination: true,
      ...(typeof volume.size === 'number' && { VolumeSize: volume.size }),
      ...(type !== undefined && { VolumeType: type as NonNullable<NonNullable<BlockDevice['Ebs']>['VolumeType']> }),
      ...(typeof volume.iops === 'number' && { Iops: volume.iops }),
      ...(typeof volume.throughput === 'number' && { Throughput: volume.throughput }),
      ...(typeof volume.encrypted === 'boolean' && { Encrypted: volume.encrypted }),
      ...(key !== undefined && { KmsKeyId: key }),
    },
  };
}

/** CAPA's own tags, so that the instances look as if it had made them, the users' tags, and the UID. */
function tagsOf({ spec, cluster, clusterName, machine, uid, role }: InstanceOrder): Tag[] {
  const tags: Readonly<Record<string, string>> = {
    ...(objectAt(cluster.spec ?? {}, 'additionalTags') as Record<string, string> | undefined),
    ...(objectAt(spec, 'additionalTags') as Record<string, string> | undefined),
    Name: machine.slice(machine.indexOf('/') + 1),
    [`kubernetes.io/cluster/${clusterName}`]: 'owned',
    [`${CAPA}/cluster/${clusterName}`]: 'owned',
    [`${CAPA}/role`]: role,
    [TAG_MACHINE_UID]: uid,
  };
  return Object.keys(tags)
    .sort()
    .map((Key) => ({ Key, Value: tags[Key] ?? '' }));
}
