/** A machine shape from EC2, reduced to the fields in use: there are more than a thousand shapes. */
import type { InstanceTypeInfo } from '@aws-sdk/client-ec2';

export interface Accelerator {
  readonly name: string;
  readonly manufacturer: string;
  readonly count: number;
  /** Per device. */
  readonly memoryMib?: number;
  /** Per device; Neuron only. */
  readonly cores?: number;
}

export interface Shape {
  readonly name: string;
  readonly arch: 'amd64' | 'arm64';
  readonly vcpus: number;
  readonly memoryMib: number;
  /** Network interfaces by card; pods use those of the default card only. */
  readonly cards: readonly number[];
  readonly defaultCard: number;
  readonly addressesPerInterface: number;
  readonly efas: number;
  readonly ena: boolean;
  readonly encryptionInTransit: boolean;
  readonly spot: boolean;
  readonly onDemand: boolean;
  /** `nitro` or `xen`; empty for bare metal. */
  readonly hypervisor: string;
  readonly cpuManufacturer?: string;
  readonly clockMhz?: number;
  readonly ebsMbps?: number;
  readonly networkMbps?: number;
  /** Local disks, in GB, and whether they are NVMe. */
  readonly localGb?: number;
  readonly localNvme?: boolean;
  readonly gpus?: readonly Accelerator[];
  readonly inference?: readonly Accelerator[];
  readonly neurons?: readonly Accelerator[];
  readonly nestedVirtualization?: boolean;
  readonly placementStrategies?: readonly string[];
}

const ARCHITECTURES = { x86_64: 'amd64', arm64: 'arm64' } as const;

/** The shape; undefined if it cannot be a node: unknown architecture, or no network. */
export function shapeOf(info: InstanceTypeInfo): Shape | undefined {
  const { ProcessorInfo: processor, NetworkInfo: network, MemoryInfo: memory, VCpuInfo: vcpus } = info;
  const known = processor?.SupportedArchitectures?.find((arch) => arch in ARCHITECTURES);
  const cards = network?.NetworkCards ?? [];
  if (known === undefined || info.InstanceType === undefined || memory?.SizeInMiB === undefined) return undefined;
  const usage = info.SupportedUsageClasses ?? [];
  const disks = info.InstanceStorageInfo;
  const ebs = info.EbsInfo?.EbsOptimizedSupport === 'default' ? info.EbsInfo.EbsOptimizedInfo : undefined;
  const networkGbps = sum(cards.map((card) => card.BaselineBandwidthInGbps ?? 0));
  return withoutUndefined({
    name: info.InstanceType,
    arch: ARCHITECTURES[known as keyof typeof ARCHITECTURES],
    vcpus: vcpus?.DefaultVCpus ?? 0,
    memoryMib: memory.SizeInMiB,
    cards:
      cards.length > 0
        ? cards.map((card) => card.MaximumNetworkInterfaces ?? 0)
        : [network?.MaximumNetworkInterfaces ?? 0],
    defaultCard: network?.DefaultNetworkCardIndex ?? 0,
    addressesPerInterface: network?.Ipv4AddressesPerInterface ?? 1,
    efas: network?.EfaInfo?.MaximumEfaInterfaces ?? 0,
    ena: network?.EnaSupport !== 'unsupported',
    encryptionInTransit: network?.EncryptionInTransitSupported ?? false,
    spot: usage.includes('spot'),
    onDemand: usage.includes('on-demand'),
    hypervisor: info.Hypervisor ?? '',
    cpuManufacturer: processor?.Manufacturer,
    clockMhz:
      processor?.SustainedClockSpeedInGhz === undefined
        ? undefined
        : Math.round(processor.SustainedClockSpeedInGhz * 1000),
    ebsMbps: ebs?.MaximumBandwidthInMbps,
    networkMbps: networkGbps === 0 ? undefined : Math.round(networkGbps * 1000),
    localGb: disks?.TotalSizeInGB,
    localNvme: disks === undefined ? undefined : disks.NvmeSupport !== 'unsupported',
    gpus: accelerators(info.GpuInfo?.Gpus, (gpu) => ({ memoryMib: gpu.MemoryInfo?.SizeInMiB })),
    inference: accelerators(info.InferenceAcceleratorInfo?.Accelerators, () => ({})),
    neurons: accelerators(
      info.NeuronInfo?.NeuronDevices?.map((device) => ({ Manufacturer: 'aws', ...device })),
      (device) => ({ cores: device.CoreInfo?.Count }),
    ),
    nestedVirtualization: (processor?.SupportedFeatures as readonly string[] | undefined)?.includes(
      'nested-virtualization',
    ),
    placementStrategies: info.PlacementGroupInfo?.SupportedStrategies,
  });
}

interface Device {
  readonly Name?: string | undefined;
  readonly Manufacturer?: string | undefined;
  readonly Count?: number | undefined;
}

function accelerators<T extends Device>(
  devices: readonly T[] | undefined,
  more: (device: T) => { memoryMib?: number | undefined; cores?: number | undefined },
): readonly Accelerator[] | undefined {
  if (devices === undefined || devices.length === 0) return undefined;
  return devices.map((device) =>
    withoutUndefined({
      name: device.Name ?? '',
      manufacturer: device.Manufacturer ?? '',
      count: device.Count ?? 0,
      ...more(device),
    }),
  );
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

function withoutUndefined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
