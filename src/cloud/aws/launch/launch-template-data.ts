/** The content of a launch template: everything about an instance except its type, zone and subnet. Pure. */
import type {
  LaunchTemplateInstanceNetworkInterfaceSpecificationRequest as NetworkInterface,
  RequestLaunchTemplateData,
} from '@aws-sdk/client-ec2';
import { type BlockDeviceMapping, type Ec2NodeClass, familyOf } from '../../../apis/aws/ec2-node-class.ts';
import { wholeValue } from '../../../apis/kubernetes/quantity.ts';
import type { RankedOffering } from '../../../engine/solution.ts';
import { IMAGE_FAMILIES } from '../image-family.ts';
import { type Tags, tagList } from './tags.ts';

export type ReservationKind = 'default' | 'capacity-block' | 'interruptible';

/** Which reservation to launch into, or none. */
export type ReservationChoice =
  | { readonly kind: 'target'; readonly id: string; readonly of: ReservationKind }
  /** The node class selects reservations: instances outside them must not use other open reservations. */
  | { readonly kind: 'none' }
  /** The node class does not mention reservations: the account's default applies, as for any other instance. */
  | { readonly kind: 'unsaid' };

export interface TemplateSettings {
  readonly nodeClass: Ec2NodeClass;
  readonly capacityType: RankedOffering['capacityType'];
  readonly reservation: ReservationChoice;
  readonly imageId: string;
  /** Not encoded. */
  readonly userData: string;
  readonly instanceProfile: string;
  readonly securityGroups: readonly string[];
  readonly tenancy: 'default' | 'dedicated';
  readonly placementGroup?: string;
  /** EFA interfaces, if pods request them. */
  readonly efas: number;
  readonly ipv6: boolean;
  readonly nitroEnclave: boolean;
  /** Isolated partitions do not support one of the metadata options. */
  readonly region: string;
  readonly tags: Tags;
}

export function launchTemplateData(settings: TemplateSettings): RequestLaunchTemplateData {
  const { nodeClass, capacityType, tags } = settings;
  const { spec } = nodeClass;
  const mappings = spec.blockDeviceMappings ?? IMAGE_FAMILIES[familyOf(spec)].disks;
  const tagged =
    capacityType === 'spot'
      ? (['network-interface', 'spot-instances-request'] as const)
      : (['network-interface'] as const);
  return {
    ImageId: settings.imageId,
    UserData: Buffer.from(settings.userData).toString('base64'),
    IamInstanceProfile: { Name: settings.instanceProfile },
    ...(mappings.length === 0 ? {} : { BlockDeviceMappings: mappings.map(blockDevice) }),
    Monitoring: { Enabled: spec.detailedMonitoring ?? false },
    MetadataOptions: metadataOptions(settings),
    NetworkInterfaces: networkInterfaces(settings),
    ...placement(settings),
    ...(settings.nitroEnclave ? { EnclaveOptions: { Enabled: true } } : {}),
    ...(spec.cpuOptions?.nestedVirtualization === undefined
      ? {}
      : { CpuOptions: { NestedVirtualization: spec.cpuOptions.nestedVirtualization } }),
    ...reservationOptions(settings.reservation),
    // EC2 rejects an on-demand fleet whose template has tags for spot requests.
    TagSpecifications: tagged.map((ResourceType) => ({ ResourceType, Tags: tagList(tags) })),
  };
}

function reservationOptions(
  reservation: ReservationChoice,
): Pick<RequestLaunchTemplateData, 'CapacityReservationSpecification' | 'InstanceMarketOptions'> {
  if (reservation.kind === 'unsaid') return {};
  if (reservation.kind === 'none')
    return { CapacityReservationSpecification: { CapacityReservationPreference: 'none' } };
  const CapacityReservationSpecification = {
    CapacityReservationPreference: 'capacity-reservations-only' as const,
    CapacityReservationTarget: { CapacityReservationId: reservation.id },
  };
  if (reservation.of === 'default') return { CapacityReservationSpecification };
  const MarketType = reservation.of === 'capacity-block' ? 'capacity-block' : 'interruptible-capacity-reservation';
  return { CapacityReservationSpecification, InstanceMarketOptions: { MarketType } };
}

function blockDevice({
  deviceName,
  ebs,
}: BlockDeviceMapping): NonNullable<RequestLaunchTemplateData['BlockDeviceMappings']>[number] {
  const sizeGib = ebs?.volumeSize === undefined ? undefined : Math.ceil(Number(wholeValue(ebs.volumeSize)) / 1024 ** 3);
  return {
    DeviceName: deviceName,
    Ebs: {
      DeleteOnTermination: ebs?.deleteOnTermination ?? true,
      Encrypted: ebs?.encrypted,
      Iops: ebs?.iops,
      Throughput: ebs?.throughput,
      KmsKeyId: ebs?.kmsKeyID,
      SnapshotId: ebs?.snapshotID,
      VolumeInitializationRate: ebs?.volumeInitializationRate,
      VolumeType: ebs?.volumeType,
      VolumeSize: sizeGib,
    },
  };
}

function metadataOptions({ nodeClass, region }: TemplateSettings): RequestLaunchTemplateData['MetadataOptions'] {
  const { metadataOptions: options } = nodeClass.spec;
  return {
    HttpEndpoint: options.httpEndpoint,
    HttpPutResponseHopLimit: options.httpPutResponseHopLimit,
    HttpTokens: options.httpTokens,
    ...(region.startsWith('us-iso') ? {} : { HttpProtocolIpv6: options.httpProtocolIPv6 }),
    // If the account enables it, tag keys with a slash would make every launch fail.
    InstanceMetadataTags: 'disabled',
  };
}

function placement({ tenancy, placementGroup }: TemplateSettings): Pick<RequestLaunchTemplateData, 'Placement'> {
  if (tenancy === 'default' && placementGroup === undefined) return {};
  return { Placement: { Tenancy: tenancy, ...(placementGroup === undefined ? {} : { GroupId: placementGroup }) } };
}

/** Security groups are set on the interfaces: EC2 does not accept them beside a list of interfaces. */
function networkInterfaces(settings: TemplateSettings): NetworkInterface[] {
  const { nodeClass, securityGroups, efas, ipv6 } = settings;
  const { associatePublicIPAddress, ipPrefixCount, connectionTracking, networkInterfaces: given } = nodeClass.spec;
  const shared: NetworkInterface = {
    Groups: [...securityGroups],
    ...(connectionTracking === undefined
      ? {}
      : {
          ConnectionTrackingSpecification: {
            TcpEstablishedTimeout: connectionTracking.tcpEstablishedTimeout,
            UdpStreamTimeout: connectionTracking.udpStreamTimeout,
            UdpTimeout: connectionTracking.udpTimeout,
          },
        }),
  };
  const addresses: NetworkInterface = {
    ...(associatePublicIPAddress === undefined ? {} : { AssociatePublicIpAddress: associatePublicIPAddress }),
    ...(ipPrefixCount === undefined
      ? {}
      : ipv6
        ? { Ipv6PrefixCount: ipPrefixCount }
        : { Ipv4PrefixCount: ipPrefixCount }),
    ...(ipv6 ? { PrimaryIpv6: true, ...(ipPrefixCount === undefined ? { Ipv6AddressCount: 1 } : {}) } : {}),
  };
  if (given !== undefined && given.length > 0) {
    return given.map(({ networkCardIndex, deviceIndex, interfaceType }) => ({
      ...shared,
      NetworkCardIndex: networkCardIndex,
      DeviceIndex: deviceIndex,
      InterfaceType: interfaceType,
      ...(networkCardIndex === 0 && deviceIndex === 0 ? addresses : {}),
    }));
  }
  if (efas === 0) return [{ ...shared, DeviceIndex: 0, ...addresses }];
  return Array.from({ length: efas }, (_, card) => ({
    ...shared,
    NetworkCardIndex: card,
    // Only the first is the primary interface: a second one with index 0 is rejected.
    DeviceIndex: card === 0 ? 0 : 1,
    InterfaceType: 'efa',
    ...(card === 0 ? addresses : {}),
  }));
}
