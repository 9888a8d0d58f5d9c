/** Azure's VM sizes as the engine sees them. */
import { nodeClassLabel } from '../../apis/karpenter/labels.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { MachineShape } from '../machine-shape.ts';
import type { BuiltInTable } from '../thin/built-in-market.ts';
import { instanceTypesOf } from '../thin/sold-shape.ts';
import { NODE_CLASS_KIND } from './node-class-kind.ts';
import { azureRegionFactor, azureRegions, azureVmSizes } from './vm-sizes.ts';

/** The tables, for plans that do not call the API. */
export const AZURE_TABLE: BuiltInTable = {
  nodeClassLabel: nodeClassLabel(NODE_CLASS_KIND.resource),
  regions: azureRegions(),
  instanceTypes: (region) =>
    azureVmSizes().flatMap((shape) => azureInstanceTypes(shape, ['1', '2', '3'], true, region)),
};

/** A shape as an instance type of a region; none if no zone sells it. Zones are numbers, or 0 without zones. */
export function azureInstanceTypes(
  shape: MachineShape,
  zones: readonly string[],
  spot: boolean,
  location: string,
): readonly InstanceType[] {
  const { accelerator, memoryMib } = shape;
  const places = zones.map((zone) => (/^[1-9]$/.test(zone) ? `${location}-${zone}` : zone));
  return instanceTypesOf({
    ...{ shape, region: location, zones: places, priceFactor: azureRegionFactor(location), spot, memoryShare: 0.925 },
    labels: {
      'karpenter.azure.com/sku-family': shape.family.slice(0, 1),
      ...(accelerator && {
        'karpenter.azure.com/sku-gpu-name': accelerator.model,
        'karpenter.azure.com/sku-gpu-count': `${accelerator.count}`,
      }),
    },
    reserved: { cpu: 60 + 10 * shape.vcpus, memoryMib: 750 + Math.ceil(memoryMib * 0.06) },
  });
}
