/** Compute Engine's machine types as the engine sees them. */
import type { GceNodeClass } from '../../apis/gcp/gce-node-class.ts';
import { nodeClassLabel } from '../../apis/karpenter/labels.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { MachineShape } from '../machine-shape.ts';
import type { BuiltInTable } from '../thin/built-in-market.ts';
import { instanceTypesOf } from '../thin/sold-shape.ts';
import { bootDisk } from './instance-body.ts';
import { bootDisksOf, gcpMachineTypes, gcpRegionFactor, gcpRegions } from './machine-types.ts';
import { NODE_CLASS_KIND } from './node-class-kind.ts';

/** The tables, for plans that do not call the API. */
export const GCP_TABLE: BuiltInTable = {
  nodeClassLabel: nodeClassLabel(NODE_CLASS_KIND.resource),
  regions: gcpRegions(),
  instanceTypes: (region, nodeClass) => {
    const category = bootDisk((nodeClass as unknown as GceNodeClass).spec)?.category;
    return gcpMachineTypes()
      .filter(({ name }) => isBootable(name, category))
      .flatMap((shape) => gcpInstanceTypes(shape, zonesOf(region), region));
  },
};

/** Whether a machine type supports a type of boot disk. */
export function isBootable(machineType: string, category: string | undefined): boolean {
  return category === undefined || bootDisksOf(machineType).includes(category);
}

/** Most regions have the zones a, b and c; two old ones begin with b. */
function zonesOf(region: string): readonly string[] {
  const letters = region === 'us-east1' || region === 'europe-west1' ? 'bcd' : 'abc';
  return [...letters].map((letter) => `${region}-${letter}`);
}

/** A shape as an instance type of a region; none if no zone sells it. */
export function gcpInstanceTypes(
  shape: MachineShape,
  zones: readonly string[],
  region: string,
): readonly InstanceType[] {
  const { accelerator, vcpus } = shape;
  return instanceTypesOf({
    ...{ shape, region, zones, priceFactor: gcpRegionFactor(region), spot: true, memoryShare: 0.98 },
    labels: {
      'karpenter.k8s.gcp/instance-family': shape.family,
      ...(accelerator && {
        'karpenter.k8s.gcp/instance-gpu-name': accelerator.model,
        'karpenter.k8s.gcp/instance-gpu-count': `${accelerator.count}`,
      }),
    },
    reserved: { cpu: Math.min(vcpus * 60, 60 + 10 * vcpus), memoryMib: reservedMib(shape.memoryMib) },
  });
}

/** A quarter of the first 4 GiB, a fifth of the next 4, and so on: what GKE keeps of memory, and 100 MiB for eviction. */
function reservedMib(memoryMib: number): number {
  const steps = [
    [4096, 0.25],
    [4096, 0.2],
    [8192, 0.1],
    [114_688, 0.06],
    [Number.POSITIVE_INFINITY, 0.02],
  ] as const;
  let left = memoryMib;
  let reserved = 100;
  for (const [size, share] of steps) {
    reserved += Math.min(left, size) * share;
    left = Math.max(0, left - size);
  }
  return Math.ceil(reserved);
}
