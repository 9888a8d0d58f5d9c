/** Our own facts about machine types of the three clouds, by the name that infrastructure templates use. */
import { azureVmSizes } from '../azure/vm-sizes.ts';
import { gcpMachineTypes, gcpRegionFactor, gcpRegionOf } from '../gcp/machine-types.ts';
import { dollars, type MachineShape } from '../machine-shape.ts';
import { machineTypes, spotPrice } from '../simulated/catalogue.ts';
import type { Provider } from './infrastructure/machine-settings.ts';

/** Finds the shape of a machine type, at the prices of the zone where those are known. */
export type FindShape = (
  provider: Provider,
  instanceType: string,
  zone: string | undefined,
) => MachineShape | undefined;

/** The tables, read when they are first asked. */
export function knownShapes(): FindShape {
  const tables = new Map<Provider, ReadonlyMap<string, MachineShape>>();
  return (provider, instanceType, zone) => {
    const table = tables.get(provider) ?? tableOf(provider);
    tables.set(provider, table);
    const shape = table.get(instanceType);
    if (shape === undefined || provider !== 'gcp' || zone === undefined) return shape;
    const factor = gcpRegionFactor(gcpRegionOf(zone));
    return { ...shape, onDemand: dollars(shape.onDemand * factor), spot: dollars(shape.spot * factor) };
  };
}

function tableOf(provider: Provider): ReadonlyMap<string, MachineShape> {
  const shapes = { aws: awsShapes, gcp: gcpMachineTypes, azure: azureVmSizes }[provider]();
  return new Map(shapes.map((shape) => [shape.name, shape]));
}

/** The simulated cloud sells what EC2 sells, under the same names and at its list prices. */
function awsShapes(): readonly MachineShape[] {
  return machineTypes().map((type) => ({
    name: type.name,
    family: type.family,
    arch: type.arch,
    vcpus: type.vcpus,
    memoryMib: type.memoryMib,
    ...(type.accelerator && { accelerator: type.accelerator }),
    onDemand: type.usdPerHour,
    spot: spotPrice(type, 'any'),
  }));
}
