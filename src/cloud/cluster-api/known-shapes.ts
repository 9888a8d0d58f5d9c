/** Our own facts about machine types of the three clouds, by the name that infrastructure templates use: those of their drivers. */
import { builtInMachines } from '../aws/built-in/built-in-machines.ts';
import { azureVmSizes } from '../azure/vm-sizes.ts';
import { gcpMachineTypes, gcpRegionFactor, gcpRegionOf } from '../gcp/machine-types.ts';
import { dollars, type MachineShape } from '../machine-shape.ts';
import type { Provider } from './infrastructure/machine-settings.ts';

/** Finds the shape of a machine type, at the prices of the zone where those are known. */
export type FindShape = (
  provider: Provider,
  instanceType: string,
  zone: string | undefined,
) => MachineShape | undefined;

/** The tables, read when they are first asked. */
export function knownShapes(): FindShape {
  const tables = new Map<string, ReadonlyMap<string, MachineShape>>();
  return (provider, instanceType, zone) => {
    // EC2's prices are a table of each region, as are those of Compute Engine by a factor.
    const region = provider === 'aws' ? awsRegionOf(zone) : '';
    const key = `${provider} ${region}`;
    const table = tables.get(key) ?? tableOf(provider, region);
    tables.set(key, table);
    const shape = table.get(instanceType);
    if (shape === undefined || provider !== 'gcp' || zone === undefined) return shape;
    const factor = gcpRegionFactor(gcpRegionOf(zone));
    return { ...shape, onDemand: dollars(shape.onDemand * factor), spot: dollars(shape.spot * factor) };
  };
}

function tableOf(provider: Provider, region: string): ReadonlyMap<string, MachineShape> {
  const shapes = { aws: () => builtInMachines(region), gcp: gcpMachineTypes, azure: azureVmSizes }[provider]();
  return new Map(shapes.map((shape) => [shape.name, shape]));
}

/** `us-east-1` of `us-east-1a`, and of the local zone `us-east-1-bos-1a`. */
export function awsRegionOf(zone: string | undefined): string {
  return /^[a-z]+(?:-[a-z]+)+-\d+/.exec(zone ?? '')?.[0] ?? 'us-east-1';
}
