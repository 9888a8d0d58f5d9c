/** A profile of IBM Cloud as plain numbers and strings, instead of the API's unions. */
import type { CapacityType } from '../../../apis/karpenter/labels.ts';
import type { VpcProfile } from '../api/vpc-types.ts';
import { capacityTypesOf } from './capacity-types.ts';
import { fieldValue } from './profile-field.ts';

export interface MachineShape {
  readonly name: string;
  /** `bxf` of `bxf-4x16`. */
  readonly family: string;
  /** `4x16` of `bxf-4x16`. */
  readonly size: string;
  readonly vcpu: number;
  readonly memoryGiB: number;
  readonly architecture: string;
  readonly capacityTypes: readonly CapacityType[];
  readonly gpu?: Gpu;
  /** Size of the included disks in GB. */
  readonly localStorageGB: number;
  /** The zones that sell it; undefined if the API does not say, which means all. */
  readonly zones: readonly string[] | undefined;
}

export interface Gpu {
  readonly count: number;
  readonly model: string;
  readonly maker: string;
  /** GiB per GPU. */
  readonly memoryGiB: number;
}

/** The shape of a profile; undefined if it does not state its vCPUs and memory. */
export function machineShape(profile: VpcProfile): MachineShape | undefined {
  const vcpu = fieldValue(profile.vcpu_count);
  const memoryGiB = fieldValue(profile.memory);
  if (vcpu === undefined || memoryGiB === undefined) return undefined;
  const dash = profile.name.indexOf('-');
  const gpu = gpuOf(profile);
  return {
    name: profile.name,
    family: dash < 0 ? profile.name : profile.name.slice(0, dash),
    size: profile.name.slice(dash + 1),
    vcpu,
    memoryGiB,
    architecture: profile.os_architecture?.values[0] ?? profile.vcpu_architecture.value,
    capacityTypes: capacityTypesOf(profile.availability_class),
    ...(gpu === undefined ? {} : { gpu }),
    localStorageGB: (profile.disks ?? []).reduce(
      (sum, { quantity, size }) => sum + (fieldValue(quantity) ?? 0) * (fieldValue(size) ?? 0),
      0,
    ),
    zones: profile.zones?.map(({ name }) => name),
  };
}

function gpuOf(profile: VpcProfile): Gpu | undefined {
  const count = fieldValue(profile.gpu_count) ?? 0;
  if (count === 0) return undefined;
  const all = fieldValue(profile.gpu_memory) ?? 0;
  return {
    count,
    model: profile.gpu_model?.values[0]?.toLowerCase() ?? 'unknown',
    maker: profile.gpu_manufacturer?.values[0]?.toLowerCase() ?? 'nvidia',
    memoryGiB: all / count,
  };
}

/** The resource name of a vendor's device plugin. */
const GPU_RESOURCES: Readonly<Record<string, string>> = {
  nvidia: 'nvidia.com/gpu',
  amd: 'amd.com/gpu',
  intel: 'habana.ai/gaudi',
};

/** The resource name of a machine's GPUs. */
export function gpuResource({ maker }: Gpu): string {
  return GPU_RESOURCES[maker] ?? `${maker}.com/gpu`;
}
