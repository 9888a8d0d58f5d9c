/**
 * Capacity and overhead of a shape with the settings of a node class: system and kubelet reservations, and eviction thresholds. The numbers
 * are Karpenter's, so that a migrated cluster sees no difference.
 */
import { type Ec2NodeClassSpec, familyOf, type KubeletSettings } from '../../../apis/aws/ec2-node-class.ts';
import {
  LABEL_TENANCY,
  RESOURCE_AMD_GPU,
  RESOURCE_EFA,
  RESOURCE_GAUDI,
  RESOURCE_NEURON,
  RESOURCE_NEURON_CORE,
  RESOURCE_NVIDIA_GPU,
  RESOURCE_POD_ENI,
  RESOURCE_WINDOWS_ADDRESSES,
} from '../../../apis/aws/labels.ts';
import { LABEL_OS, LABEL_REGION, LABEL_WINDOWS_BUILD } from '../../../apis/karpenter/labels.ts';
import { milliValue, wholeValue } from '../../../apis/kubernetes/quantity.ts';
import type { InstanceType, Offering, Resources } from '../../../engine/problem.ts';
import { IMAGE_FAMILIES, type ImageFamily } from '../image-family.ts';
import { branchInterfaces } from './branch-interfaces.ts';
import { podLimit, podsByInterfaces } from './pod-limit.ts';
import type { Accelerator, Shape } from './shape.ts';
import { shapeLabels } from './shape-labels.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const DEFAULT_DISK_BYTES = 20 * GIB;
/** Subtracted on ARM machines for their contiguous memory allocator. */
const ARM_KEEPS_MIB = 64;

export interface TypeSettings {
  readonly region: string;
  readonly spec: Ec2NodeClassSpec;
  /** The share of a machine's memory that the hypervisor keeps. */
  readonly memoryOverhead: number;
  /** Interfaces not used for pods, as with custom networking. */
  readonly reservedInterfaces: number;
  /** Measured memory of nodes of a shape, if there were any. */
  readonly learnedMemory?: (shape: string) => number | undefined;
}

/** The instance type; undefined if the operating system does not run on it. */
export function instanceType(
  shape: Shape,
  offerings: readonly Offering[],
  settings: TypeSettings,
): InstanceType | undefined {
  const { region, spec } = settings;
  const family = IMAGE_FAMILIES[familyOf(spec)];
  if (family.os === 'windows' && shape.arch !== 'amd64') return undefined;
  const capacity = capacityOf(shape, family, settings);
  const labels = { ...shapeLabels(shape), [LABEL_OS]: family.os, [LABEL_REGION]: region };
  return {
    name: shape.name,
    labels: family.windowsBuild === undefined ? labels : { ...labels, [LABEL_WINDOWS_BUILD]: family.windowsBuild },
    requirements: [{ key: LABEL_TENANCY, operator: 'In', values: ['default', 'dedicated'] }],
    capacity,
    overhead: overheadOf(shape, family, capacity, settings),
    offerings,
  };
}

function capacityOf(shape: Shape, family: ImageFamily, settings: TypeSettings): Resources {
  const { spec, reservedInterfaces } = settings;
  const { kubelet = {}, networkInterfaces } = spec;
  const efaOnly = networkInterfaces?.filter(({ interfaceType }) => interfaceType === 'efa-only').length;
  const neurons = shape.neurons ?? [];
  const [firstNeuron] = neurons;
  const all: Resources = {
    cpu: shape.vcpus * 1000,
    memory: settings.learnedMemory?.(shape.name) ?? foreseenMemory(shape, settings.memoryOverhead),
    'ephemeral-storage': diskBytes(shape, family, spec),
    pods: podLimit(shape, family, {
      ...(kubelet.maxPods === undefined ? {} : { maxPods: kubelet.maxPods }),
      ...(kubelet.podsPerCore === undefined ? {} : { podsPerCore: kubelet.podsPerCore }),
      reservedInterfaces,
      networkInterfaces,
    }),
    [RESOURCE_NVIDIA_GPU]: gpusOf(shape.gpus, 'NVIDIA'),
    [RESOURCE_AMD_GPU]: gpusOf(shape.gpus, 'AMD'),
    [RESOURCE_GAUDI]: gpusOf(shape.gpus, 'Habana'),
    [RESOURCE_NEURON]: total(neurons),
    [RESOURCE_NEURON_CORE]: firstNeuron === undefined ? 0 : firstNeuron.count * (firstNeuron.cores ?? 0),
    [RESOURCE_EFA]: efaOnly ?? shape.efas,
    [RESOURCE_POD_ENI]: branchInterfaces(shape),
    [RESOURCE_WINDOWS_ADDRESSES]: family.os === 'windows' ? shape.addressesPerInterface - 1 : 0,
  };
  return Object.fromEntries(Object.entries(all).filter(([name, amount]) => amount > 0 || name === 'pods'));
}

/** Memory as the operating system will see it, in whole MiB. */
function foreseenMemory(shape: Shape, overhead: number): number {
  const mib = shape.arch === 'arm64' ? shape.memoryMib - ARM_KEEPS_MIB : shape.memoryMib;
  return (mib - Math.ceil(mib * overhead)) * MIB;
}

function diskBytes(shape: Shape, family: ImageFamily, spec: Ec2NodeClassSpec): number {
  const { instanceStorePolicy, blockDeviceMappings: mappings = [] } = spec;
  if (instanceStorePolicy === 'RAID0' && shape.localGb !== undefined) return shape.localGb * 1e9;
  const sizeOf = (mapping: (typeof mappings)[number] | undefined): number | undefined => {
    const size = mapping?.ebs?.volumeSize;
    return size === undefined ? undefined : Number(wholeValue(size));
  };
  const root = sizeOf(mappings.find(({ rootVolume }) => rootVolume === true));
  const named = sizeOf(
    family.dataDevice === undefined
      ? mappings.at(-1)
      : mappings.find(({ deviceName }) => deviceName === family.dataDevice),
  );
  const usual = sizeOf(family.disks.find(({ deviceName }) => deviceName === family.dataDevice));
  return (
    root ?? named ?? (mappings.length > 0 && family.dataDevice === undefined ? undefined : usual) ?? DEFAULT_DISK_BYTES
  );
}

function overheadOf(shape: Shape, family: ImageFamily, capacity: Resources, settings: TypeSettings): Resources {
  const { kubelet = {}, networkInterfaces } = settings.spec;
  const reservedPods = family.reservesByInterfaces
    ? podsByInterfaces(shape, 0, networkInterfaces)
    : (capacity.pods ?? 0);
  const kube: Record<string, number> = {
    cpu: reservedCpu(shape.vcpus),
    memory: (11 * reservedPods + 255) * MIB,
    'ephemeral-storage': GIB,
    ...amounts(kubelet.kubeReserved),
  };
  const system = amounts(kubelet.systemReserved);
  const eviction: Record<string, number> = {
    memory: threshold(kubelet, 'memory.available', capacity.memory ?? 0) ?? 100 * MIB,
    'ephemeral-storage':
      threshold(kubelet, 'nodefs.available', capacity['ephemeral-storage'] ?? 0) ??
      Math.ceil((capacity['ephemeral-storage'] ?? 0) / 10),
  };
  const kept: Record<string, number> = {};
  for (const name of ['cpu', 'memory', 'ephemeral-storage']) {
    const amount = (kube[name] ?? 0) + (system[name] ?? 0) + (eviction[name] ?? 0);
    if (amount > 0) kept[name] = Math.min(amount, capacity[name] ?? 0);
  }
  return kept;
}

/** 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the others; in whole millicores of each part. */
export function reservedCpu(vcpus: number): number {
  const parts = [
    { cores: 1, share: 0.06 },
    { cores: 1, share: 0.01 },
    { cores: 2, share: 0.005 },
    { cores: Number.POSITIVE_INFINITY, share: 0.0025 },
  ];
  let left = vcpus;
  let millicores = 0;
  for (const { cores, share } of parts) {
    const here = Math.min(left, cores);
    // Rounded first, so that 1000 × 0.06 is not 59.99.
    millicores += Math.floor(Math.round(here * 1000 * share * 1e6) / 1e6);
    left -= here;
  }
  return millicores;
}

/** The threshold in bytes; 100 % switches it off. */
function threshold({ evictionHard }: KubeletSettings, signal: string, capacity: number): number | undefined {
  const value = evictionHard?.[signal];
  if (value === undefined || value === '') return undefined;
  if (!value.endsWith('%')) return Number(wholeValue(value));
  const percent = Number(value.slice(0, -1));
  return percent === 100 ? 0 : Math.ceil((capacity / 100) * percent);
}

function amounts(list: Readonly<Record<string, string>> = {}): Record<string, number> {
  return Object.fromEntries(
    Object.entries(list).map(([name, amount]) => [
      name,
      Number(name === 'cpu' ? milliValue(amount) : wholeValue(amount)),
    ]),
  );
}

function gpusOf(gpus: readonly Accelerator[] = [], manufacturer: string): number {
  return total(gpus.filter((gpu) => gpu.manufacturer === manufacturer));
}

function total(devices: readonly Accelerator[]): number {
  return devices.reduce((sum, { count }) => sum + count, 0);
}
