/** Our own facts about machine types of the three clouds, by the name that infrastructure templates use: those of their drivers. */
import { builtInMachines } from '../aws/built-in/built-in-machines.ts';
import { azureRegionFactor, azureVmSizes } from '../azure/vm-sizes.ts';
import { gcpMachineTypes, gcpRegionFactor } from '../gcp/machine-types.ts';
import { dollars, type MachineShape } from '../machine-shape.ts';
import type { Provider } from './infrastructure/machine-settings.ts';

/** Finds the shape of a machine type at the prices of a region, or of the region that the tables are made for. */
export type FindShape = (
  provider: Provider,
  instanceType: string,
  region: string | undefined,
) => MachineShape | undefined;

/** The tables, read when they are first asked. */
export function knownShapes(): FindShape {
  const tables = new Map<string, ReadonlyMap<string, MachineShape>>();
  return (provider, instanceType, region) => {
    const key = `${provider} ${region}`;
    const table = tables.get(key) ?? tableOf(provider, region);
    tables.set(key, table);
    // Azure does not keep the case of its names.
    return table.get(instanceType.toLowerCase());
  };
}

function tableOf(provider: Provider, region: string | undefined): ReadonlyMap<string, MachineShape> {
  const shapes = {
    aws: () => builtInMachines(region ?? 'us-east-1'),
    gcp: () => priced(gcpMachineTypes(), region === undefined ? 1 : gcpRegionFactor(region)),
    azure: () => priced(azureVmSizes(), region === undefined ? 1 : azureRegionFactor(region)),
  }[provider]();
  return new Map(shapes.map((shape) => [shape.name.toLowerCase(), shape]));
}

function priced(shapes: readonly MachineShape[], factor: number): readonly MachineShape[] {
  return shapes.map((shape) => ({
    ...shape,
    onDemand: dollars(shape.onDemand * factor),
    spot: dollars(shape.spot * factor),
  }));
}
