/**
 * The hash of the fields of an EC2NodeClass whose change makes instances drift: the same number that Karpenter computes.
 * Subnets, security groups, reservations, images and the number of prefixes are left out: what they select is compared
 * with each instance instead.
 */
import { parseDuration } from '../kubernetes/go-duration.ts';
import { formatQuantity, parseQuantity } from '../kubernetes/quantity.ts';
import {
  type BlockDeviceMapping,
  type Ec2NodeClass,
  type Ec2NodeClassSpec,
  familyOf,
  type KubeletSettings,
} from './ec2-node-class.ts';
import { type GoField, type GoValue, goString, goStructureHash } from './go-structure-hash.ts';

/** Karpenter's name of this way to compute it; claims with another version are given a new hash instead of being compared. */
export const EC2_NODE_CLASS_HASH_VERSION = 'v5';

/** The hash of a node class, whose instances trust the cluster by this certificate authority, in base64. */
export function ec2NodeClassHash({ spec }: Ec2NodeClass, caBundle = ''): string {
  const parts = [hashedSpec(spec), goString(familyOf(spec)), goString(caBundle)];
  return goStructureHash({ kind: 'set', items: parts }).toString();
}

function hashedSpec(spec: Ec2NodeClassSpec): GoValue {
  const { metadataOptions, connectionTracking, cpuOptions, placementGroupSelector } = spec;
  return struct('EC2NodeClassSpec', [
    [
      'PlacementGroupSelector',
      some(placementGroupSelector, ({ name, id }) =>
        struct('PlacementGroupSelector', [
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
    ['BlockDeviceMappings', some(spec.blockDeviceMappings, (mappings) => set(mappings.map(blockDeviceMapping)))],
    ['InstanceStorePolicy', pointer(spec.instanceStorePolicy)],
    [
      'NetworkInterfaces',
      some(spec.networkInterfaces, (nics) =>
        set(
          nics.map(({ networkCardIndex, deviceIndex, interfaceType }) =>
            struct('NetworkInterface', [
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
        struct('MetadataOptions', [
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
        struct('ConnectionTracking', [
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
        struct('CPUOptions', [['NestedVirtualization', pointer(nestedVirtualization)]]),
      ),
    ],
  ]);
}

function kubelet(settings: KubeletSettings): GoValue {
  return struct('KubeletConfiguration', [
    ['ClusterDNS', some(settings.clusterDNS, (addresses) => set(addresses.map(goString)))],
    ['MaxPods', int(settings.maxPods, 4)],
    ['PodsPerCore', int(settings.podsPerCore, 4)],
    ['SystemReserved', texts(settings.systemReserved)],
    ['KubeReserved', texts(settings.kubeReserved)],
    ['EvictionHard', texts(settings.evictionHard)],
    ['EvictionSoft', texts(settings.evictionSoft)],
    [
      'EvictionSoftGracePeriod',
      some(settings.evictionSoftGracePeriod, (periods) => ({
        kind: 'map',
        entries: Object.fromEntries(
          Object.entries(periods).map(([signal, period]) => [
            signal,
            struct('Duration', [['Duration', nonZero(Number(parseDuration(period) ?? 0n), 8)]]),
          ]),
        ),
      })),
    ],
    ['EvictionMaxPodGracePeriod', int(settings.evictionMaxPodGracePeriod, 4)],
    ['ImageGCHighThresholdPercent', int(settings.imageGCHighThresholdPercent, 4)],
    ['ImageGCLowThresholdPercent', int(settings.imageGCLowThresholdPercent, 4)],
    ['CPUCFSQuota', flag(settings.cpuCFSQuota)],
  ]);
}

function blockDeviceMapping({ deviceName, ebs, rootVolume }: BlockDeviceMapping): GoValue {
  return struct('BlockDeviceMapping', [
    ['DeviceName', pointer(deviceName)],
    [
      'EBS',
      some(ebs, (volume) =>
        struct('BlockDevice', [
          ['DeleteOnTermination', flag(volume.deleteOnTermination)],
          ['Encrypted', flag(volume.encrypted)],
          ['IOPS', int(volume.iops, 8)],
          ['KMSKeyID', pointer(volume.kmsKeyID)],
          ['SnapshotID', pointer(volume.snapshotID)],
          ['Throughput', int(volume.throughput, 8)],
          ['VolumeInitializationRate', int(volume.volumeInitializationRate, 4)],
          ['VolumeSize', some(volume.volumeSize, (size) => goString(formatQuantity(parseQuantity(size))))],
          ['VolumeType', pointer(volume.volumeType)],
        ]),
      ),
    ],
    ['RootVolume', rootVolume === true ? { kind: 'bool', value: true } : undefined],
  ]);
}

function struct(name: string, fields: readonly GoField[]): GoValue {
  return { kind: 'struct', name, fields };
}

function set(items: readonly GoValue[]): GoValue {
  return { kind: 'set', items };
}

function some<T>(value: T | undefined, of: (value: T) => GoValue): GoValue | undefined {
  return value === undefined ? undefined : of(value);
}

/** A pointer to a text: an empty text counts, no pointer does not. */
function pointer(value: string | undefined): GoValue | undefined {
  return some(value, goString);
}

/** A text that is no pointer: an empty one does not count. */
function plain(value: string | undefined): GoValue | undefined {
  return value === '' ? undefined : pointer(value);
}

function flag(value: boolean | undefined): GoValue | undefined {
  return some(value, (is) => ({ kind: 'bool', value: is }));
}

function int(value: number | undefined, bytes: 4 | 8): GoValue | undefined {
  return some(value, (is) => ({ kind: 'int', value: is, bytes }));
}

function nonZero(value: number, bytes: 4 | 8): GoValue | undefined {
  return value === 0 ? undefined : int(value, bytes);
}

function texts(map: Readonly<Record<string, string>> | undefined): GoValue | undefined {
  return some(map, (entries) => ({
    kind: 'map',
    entries: Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, goString(value)])),
  }));
}
