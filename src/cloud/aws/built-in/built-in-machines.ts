/** The built-in shapes and prices of EC2 as a table: the size and price of each type, without a node class. */
import { dollars, type MachineShape } from '../../machine-shape.ts';
import type { Shape } from '../catalogue/shape.ts';
import { BUILT_IN_SPOT_SHARE, builtInPrices } from './built-in-prices.ts';
import { builtInTable } from './built-in-table.ts';

/** All types with a price, at the prices of a region; of us-east-1 if the region is unknown. */
export function builtInMachines(region: string): readonly MachineShape[] {
  const { prices } = builtInPrices(region);
  return builtInTable<readonly Shape[]>('shapes').flatMap((shape) => {
    const onDemand = prices.get(shape.name);
    return onDemand === undefined ? [] : [machineShape(shape, onDemand)];
  });
}

function machineShape(shape: Shape, onDemand: number): MachineShape {
  const { name, arch, vcpus, memoryMib, gpus = [] } = shape;
  const [gpu] = gpus;
  const resource = gpu?.manufacturer === 'NVIDIA' ? 'nvidia.com/gpu' : gpu?.manufacturer === 'AMD' ? 'amd.com/gpu' : '';
  return {
    ...{ name, arch, vcpus, memoryMib, onDemand },
    family: name.slice(0, name.indexOf('.')),
    ...(gpu !== undefined &&
      resource !== '' && {
        accelerator: { resource, model: gpu.name.toLowerCase().replaceAll(' ', '-'), count: gpu.count },
      }),
    spot: dollars(onDemand * BUILT_IN_SPOT_SHARE),
  };
}
