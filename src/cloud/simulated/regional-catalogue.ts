/** The catalogue of the simulated cloud per region: the same machines at different prices. */
import type { InstanceType, Labels, Offering, Resources } from '../../engine/problem.ts';
import { seededRandom } from '../../platform/random.ts';
import type { Region } from './account-settings.ts';
import { type MachineType, machineTypes, REGION, reservedOf, spotPrice, usableMemoryMib, ZONES } from './catalogue.ts';
import {
  INSTANCE_CATEGORY,
  INSTANCE_CPU,
  INSTANCE_FAMILY,
  INSTANCE_GENERATION,
  INSTANCE_GPU_COUNT,
  INSTANCE_GPU_NAME,
  INSTANCE_MEMORY,
  INSTANCE_SIZE,
} from './labels.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** The default region. */
export const HOME_REGION: Region = { name: REGION, zones: ZONES };

/** All instance types of these regions, with mean prices. */
export function catalogueOf(regions: readonly Region[]): InstanceType[] {
  const places = regions.flatMap(({ name, zones }) =>
    zones.map((zone, index) => ({ zone, like: ZONES[index % ZONES.length] as string, dearness: dearnessOf(name) })),
  );
  return machineTypes().map((machine) => ({
    name: machine.name,
    labels: labelsOf(machine),
    capacity: capacityOf(machine),
    overhead: overheadOf(machine),
    offerings: places
      .filter(({ like }) => machine.zones.includes(like))
      .flatMap(({ zone, dearness }) => offeringsOf(machine, zone, dearness)),
  }));
}

/** The home region has list prices; other regions are up to a fifth more expensive. */
function dearnessOf(region: string): number {
  return region === REGION ? 1 : 1 + 0.2 * seededRandom('regions').split(region).next();
}

function offeringsOf(machine: MachineType, zone: string, dearness: number): Offering[] {
  const priced = (usd: number): number => Math.round(usd * dearness * 1e5) / 1e5;
  return [
    { zone, capacityType: 'on-demand', price: priced(machine.usdPerHour) },
    { zone, capacityType: 'spot', price: priced(spotPrice(machine, zone)) },
  ];
}

function labelsOf(machine: MachineType): Labels {
  const { accelerator } = machine;
  return {
    'kubernetes.io/arch': machine.arch,
    'kubernetes.io/os': 'linux',
    [INSTANCE_CATEGORY]: machine.category,
    [INSTANCE_FAMILY]: machine.family,
    [INSTANCE_GENERATION]: String(machine.generation),
    [INSTANCE_SIZE]: machine.size,
    [INSTANCE_CPU]: String(machine.vcpus),
    [INSTANCE_MEMORY]: String(machine.memoryMib),
    ...(accelerator && {
      [INSTANCE_GPU_NAME]: accelerator.model,
      [INSTANCE_GPU_COUNT]: String(accelerator.count),
    }),
  };
}

function capacityOf(machine: MachineType): Resources {
  const { accelerator } = machine;
  return {
    cpu: machine.vcpus * 1000,
    memory: usableMemoryMib(machine) * MIB,
    'ephemeral-storage': 20 * GIB,
    pods: machine.pods,
    ...(accelerator && { [accelerator.resource]: accelerator.count }),
  };
}

function overheadOf(machine: MachineType): Resources {
  const { milliCpu, memoryMib } = reservedOf(machine);
  // The kubelet reserves 1 GiB of the disk, and evicts when a tenth is left.
  return { cpu: milliCpu, memory: memoryMib * MIB, 'ephemeral-storage': 3 * GIB };
}
