/** Converts a machine shape to an instance type: labels, capacity, overhead, and one offering per zone and capacity type. */
import type { IBMNodeClassSpec } from '../../../apis/ibm/ibm-node-class.ts';
import {
  LABEL_IBM_CPU,
  LABEL_IBM_FAMILY,
  LABEL_IBM_GENERATION,
  LABEL_IBM_GPU_COUNT,
  LABEL_IBM_GPU_MANUFACTURER,
  LABEL_IBM_GPU_MEMORY,
  LABEL_IBM_GPU_NAME,
  LABEL_IBM_LOCAL_STORAGE,
  LABEL_IBM_MEMORY,
  LABEL_IBM_SIZE,
} from '../../../apis/ibm/labels.ts';
import { type CapacityType, LABEL_ARCH, LABEL_OS, LABEL_REGION } from '../../../apis/karpenter/labels.ts';
import type { InstanceType, Labels, Offering, Resources } from '../../../engine/problem.ts';
import { guestMemory, kubeletReservations, overheadOf } from './kubelet-reservations.ts';
import { gpuResource, type MachineShape } from './machine-shape.ts';

export interface InstanceTypeSettings {
  readonly region: string;
  /** Zones that have a subnet of the node class. */
  readonly zones: readonly string[];
  readonly spec: Pick<IBMNodeClassSpec, 'kubelet' | 'blockDeviceMappings'>;
  /** USD per hour of a shape. Shapes without a known price are not offered. */
  readonly price: (shape: MachineShape, capacityType: CapacityType) => number | undefined;
  /** Measured memory of nodes of this profile, in bytes. */
  readonly learnedMemory?: (profile: string) => number | undefined;
  /** The share of a profile's memory that the guest does not see, if it has not been measured. */
  readonly memoryOverhead: number;
  /** Capacity types that the class can launch. */
  readonly capacityTypes: readonly CapacityType[];
}

const DEFAULT_BOOT_GB = 100;

/** The boot volume of a class in GB. */
export function bootVolumeGB({ blockDeviceMappings = [] }: Pick<IBMNodeClassSpec, 'blockDeviceMappings'>): number {
  return blockDeviceMappings.find(({ rootVolume }) => rootVolume === true)?.volumeSpec?.capacity ?? DEFAULT_BOOT_GB;
}

/** The labels that follow from a shape. */
export function labelsOfShape(shape: MachineShape, region: string): Labels {
  const generation = /^[a-z]+?(\d)/.exec(shape.family)?.[1];
  const { gpu } = shape;
  return {
    [LABEL_ARCH]: shape.architecture,
    [LABEL_OS]: 'linux',
    [LABEL_REGION]: region,
    [LABEL_IBM_FAMILY]: shape.family,
    [LABEL_IBM_SIZE]: shape.size,
    [LABEL_IBM_CPU]: `${shape.vcpu}`,
    [LABEL_IBM_MEMORY]: `${shape.memoryGiB * 1024}`,
    ...(generation === undefined ? {} : { [LABEL_IBM_GENERATION]: generation }),
    ...(shape.localStorageGB === 0 ? {} : { [LABEL_IBM_LOCAL_STORAGE]: `${shape.localStorageGB}` }),
    ...(gpu === undefined
      ? {}
      : {
          [LABEL_IBM_GPU_COUNT]: `${gpu.count}`,
          [LABEL_IBM_GPU_NAME]: gpu.model,
          [LABEL_IBM_GPU_MANUFACTURER]: gpu.maker,
          [LABEL_IBM_GPU_MEMORY]: `${Math.floor(gpu.memoryGiB * 1024)}`,
        }),
  };
}

/** The capacity and allocatable resources of a node of this shape. */
export function resourcesOfShape(
  shape: MachineShape,
  { spec, learnedMemory, memoryOverhead }: Pick<InstanceTypeSettings, 'spec' | 'learnedMemory' | 'memoryOverhead'>,
): { readonly capacity: Resources; readonly overhead: Resources } {
  const reservations = kubeletReservations(shape.vcpu, spec.kubelet);
  const memory = guestMemory(shape.memoryGiB, learnedMemory?.(shape.name), memoryOverhead);
  const storage = bootVolumeGB(spec) * 1e9;
  const { gpu } = shape;
  return {
    capacity: {
      cpu: shape.vcpu * 1000,
      memory,
      'ephemeral-storage': storage,
      pods: reservations.maxPods,
      ...(gpu === undefined ? {} : { [gpuResource(gpu)]: gpu.count }),
    },
    overhead: overheadOf(reservations, { memory, storage }),
  };
}

/** The instance type of a shape; undefined if no zone sells it at a known price. */
export function instanceTypeOf(shape: MachineShape, settings: InstanceTypeSettings): InstanceType | undefined {
  const offerings = offeringsOf(shape, settings);
  if (offerings.length === 0) return undefined;
  return {
    name: shape.name,
    labels: labelsOfShape(shape, settings.region),
    ...resourcesOfShape(shape, settings),
    offerings,
  };
}

function offeringsOf(shape: MachineShape, { zones, capacityTypes, price }: InstanceTypeSettings): readonly Offering[] {
  return zones
    .filter((zone) => shape.zones?.includes(zone) ?? true)
    .flatMap((zone) =>
      shape.capacityTypes
        .filter((capacityType) => capacityTypes.includes(capacityType))
        .flatMap((capacityType): Offering[] => {
          const cost = price(shape, capacityType);
          return cost === undefined ? [] : [{ zone, capacityType, price: cost }];
        }),
    );
}
