/**
 * The hash of the fields of an EC2NodeClass whose change makes instances drift: the same number that Karpenter computes.
 * Subnets, security groups, reservations, images and the number of prefixes are left out, as drift compares their selection
 * with each instance.
 */
import {
  hashFlag,
  hashInteger,
  hashMap,
  hashSet,
  hashShortInteger,
  hashStructure,
  hashText,
  hashTextMap,
} from '../karpenter/structure-hash.ts';
import { parseDuration } from '../kubernetes/go-duration.ts';
import { formatQuantity, parseQuantity } from '../kubernetes/quantity.ts';
import {
  type BlockDeviceMapping,
  type Ec2NodeClass,
  type Ec2NodeClassSpec,
  familyOf,
  type KubeletSettings,
} from './ec2-node-class.ts';

/** Karpenter's version of the hash; claims with another version get a new hash instead of being compared. */
export const EC2_NODE_CLASS_HASH_VERSION = 'v5';

/** The hash of a node class, whose instances trust the cluster by this certificate authority, in base64. */
export function ec2NodeClassHash({ spec }: Ec2NodeClass, caBundle = ''): string {
  return hashSet([hashedSpec(spec), hashText(familyOf(spec)), hashText(caBundle)]).toString();
}

function hashedSpec(spec: Ec2NodeClassSpec): bigint {
  const { metadataOptions, connectionTracking, cpuOptions, placementGroupSelector } = spec;
  return hashStructure('EC2NodeClassSpec', [
    [
      'PlacementGroupSelector',
      some(placementGroupSelector, ({ name, id }) =>
        hashStructure('PlacementGroupSelector', [
          ['Name', pointer(name)],
          ['ID', pointer(id)],
        ]),
      ),
    ],
    ['AssociatePublicIPAddress', flag(spec.associatePublicIPAddress)],
    ['UserData', pointer(spec.userData)],
    ['Role', plain(spec.role)],
    ['InstanceProfile', pointer(spec.instanceProfile)],
    ['Tags', texts(spec.tags)],
    ['Kubelet', some(spec.kubelet, kubelet)],
    ['BlockDeviceMappings', some(spec.blockDeviceMappings, (mappings) => hashSet(mappings.map(blockDeviceMapping)))],
    ['InstanceStorePolicy', pointer(spec.instanceStorePolicy)],
    [
      'NetworkInterfaces',
      some(spec.networkInterfaces, (nics) =>
        hashSet(
          nics.map(({ networkCardIndex, deviceIndex, interfaceType }) =>
            hashStructure('NetworkInterface', [
              ['NetworkCardIndex', nonZero(networkCardIndex, 4)],
              ['DeviceIndex', nonZero(deviceIndex, 4)],
              ['InterfaceType', plain(interfaceType)],
            ]),
          ),
        ),
      ),
    ],
    ['DetailedMonitoring', flag(spec.detailedMonitoring)],
    [
      'MetadataOptions',
      some(metadataOptions, (options) =>
        hashStructure('MetadataOptions', [
          ['HTTPEndpoint', pointer(options.httpEndpoint)],
          ['HTTPProtocolIPv6', pointer(options.httpProtocolIPv6)],
          ['HTTPPutResponseHopLimit', int(options.httpPutResponseHopLimit, 8)],
          ['HTTPTokens', pointer(options.httpTokens)],
        ]),
      ),
    ],
    [
      'ConnectionTracking',
      some(connectionTracking, (tracking) =>
        hashStructure('ConnectionTracking', [
          ['TCPEstablishedTimeout', int(tracking.tcpEstablishedTimeout, 4)],
          ['UDPStreamTimeout', int(tracking.udpStreamTimeout, 4)],
          ['UDPTimeout', int(tracking.udpTimeout, 4)],
        ]),
      ),
    ],
    ['Context', pointer(spec.context)],
    [
      'CPUOptions',
      some(cpuOptions, ({ nestedVirtualization }) =>
        hashStructure('CPUOptions', [['NestedVirtualization', pointer(nestedVirtualization)]]),
      ),
    ],
  ]);
}

function kubelet(settings: KubeletSettings): bigint {
  return hashStructure('KubeletConfiguration', [
    ['ClusterDNS', some(settings.clusterDNS, (addresses) => hashSet(addresses.map(hashText)))],
    ['MaxPods', int(settings.maxPods, 4)],
    ['PodsPerCore', int(settings.podsPerCore, 4)],
    ['SystemReserved', texts(settings.systemReserved)],
    ['KubeReserved', texts(settings.kubeReserved)],
    ['EvictionHard', texts(settings.evictionHard)],
    ['EvictionSoft', texts(settings.evictionSoft)],
    [
      'EvictionSoftGracePeriod',
      some(settings.evictionSoftGracePeriod, (periods) =>
        hashMap(
          Object.fromEntries(
            Object.entries(periods).map(([signal, period]) => [
              signal,
              hashStructure('Duration', [['Duration', nonZero(Number(parseDuration(period) ?? 0n), 8)]]),
            ]),
          ),
        ),
      ),
    ],
    ['EvictionMaxPodGracePeriod', int(settings.evictionMaxPodGracePeriod, 4)],
    ['ImageGCHighThresholdPercent', int(settings.imageGCHighThresholdPercent, 4)],
    ['ImageGCLowThresholdPercent', int(settings.imageGCLowThresholdPercent, 4)],
    ['CPUCFSQuota', flag(settings.cpuCFSQuota)],
  ]);
}

function blockDeviceMapping({ deviceName, ebs, rootVolume }: BlockDeviceMapping): bigint {
  return hashStructure('BlockDeviceMapping', [
    ['DeviceName', pointer(deviceName)],
    [
      'EBS',
      some(ebs, (volume) =>
        hashStructure('BlockDevice', [
          ['DeleteOnTermination', flag(volume.deleteOnTermination)],
          ['Encrypted', flag(volume.encrypted)],
          ['IOPS', int(volume.iops, 8)],
          ['KMSKeyID', pointer(volume.kmsKeyID)],
          ['SnapshotID', pointer(volume.snapshotID)],
          ['Throughput', int(volume.throughput, 8)],
          ['VolumeInitializationRate', int(volume.volumeInitializationRate, 4)],
          ['VolumeSize', some(volume.volumeSize, (size) => hashText(formatQuantity(parseQuantity(size))))],
          ['VolumeType', pointer(volume.volumeType)],
        ]),
      ),
    ],
    ['RootVolume', rootVolume === true ? hashFlag(true) : undefined],
  ]);
}

function some<T>(value: T | undefined, of: (value: T) => bigint): bigint | undefined {
  return value === undefined ? undefined : of(value);
}

/** A pointer to a text: an empty text counts, no pointer does not. */
function pointer(value: string | undefined): bigint | undefined {
  return some(value, hashText);
}

/** A text that is no pointer: an empty one does not count. */
function plain(value: string | undefined): bigint | undefined {
  return value === '' ? undefined : pointer(value);
}

function flag(value: boolean | undefined): bigint | undefined {
  return some(value, hashFlag);
}

function int(value: number | undefined, bytes: 4 | 8): bigint | undefined {
  return some(value, (is) => (bytes === 4 ? hashShortInteger(is) : hashInteger(BigInt(is))));
}

function nonZero(value: number, bytes: 4 | 8): bigint | undefined {
  return value === 0 ? undefined : int(value, bytes);
}

function texts(map: Readonly<Record<string, string>> | undefined): bigint | undefined {
  return some(map, hashTextMap);
}
