/** Catalogues in the exchange format: one that is regular to the point of artificiality, and cuts of the simulated cloud's. */
import {
  type MachineType,
  machineTypes,
  reservedOf,
  spotPrice,
  usableMemoryMib,
} from '../../src/cloud/simulated/catalogue.ts';
import type { InstanceTypeEntry, OfferingEntry } from '../../src/cloud/simulated/instance-type-entries.ts';

/**
 * The shape of Karpenter's public scheduling benchmark: type i has i vCPUs, 2i GiB and 10i pods, in three zones, spot in
 * two of them, at the price of on-demand, so that no type is a bargain.
 */
export function regularCatalogue(count = 400): InstanceTypeEntry[] {
  return Array.from({ length: count }, (_, index) => {
    const vcpus = index + 1;
    const memoryMib = vcpus * 2048;
    const Price = 0.1 * vcpus + 0.1 * ((memoryMib * 1024 * 1024) / 1e9);
    const offering = (zone: number, CT: OfferingEntry['CT']): OfferingEntry => ({ Zone: `zone-${zone}`, CT, Price });
    return {
      Name: `regular-${vcpus}`,
      Arch: 'amd64',
      CPUm: vcpus * 1000,
      MemMi: memoryMib,
      Pods: vcpus * 10,
      GPU: 0,
      OvCPUm: 100,
      OvMi: 10,
      Labels: {},
      Offerings: [
        offering(1, 'spot'),
        offering(2, 'spot'),
        offering(1, 'on-demand'),
        offering(2, 'on-demand'),
        offering(3, 'on-demand'),
      ],
    };
  });
}

/** The shape of the cloud that Karpenter is tried out on: prices in proportion to vCPUs and memory, spot at 70 %, the same in all four zones. */
export function proportionalCatalogue(maxVcpus: number): InstanceTypeEntry[] {
  const sizes = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256].filter((vcpus) => vcpus <= maxVcpus);
  return sizes.flatMap((vcpus) =>
    [2, 4, 8].map((gibPerVcpu): InstanceTypeEntry => {
      const price = 0.025 * vcpus + 1e-12 * vcpus * gibPerVcpu * 1024 ** 3;
      return {
        Name: `proportional-${vcpus}-${vcpus * gibPerVcpu}`,
        Arch: 'amd64',
        CPUm: vcpus * 1000,
        MemMi: vcpus * gibPerVcpu * 1024,
        Pods: vcpus * 16,
        GPU: 0,
        OvCPUm: 100,
        OvMi: 10,
        Labels: {},
        Offerings: ['a', 'b', 'c', 'd'].flatMap((Zone): OfferingEntry[] => [
          { Zone, CT: 'spot', Price: 0.7 * price },
          { Zone, CT: 'on-demand', Price: price },
        ]),
      };
    }),
  );
}

/** Which part of the simulated cloud's catalogue a problem may use. */
export interface CatalogueCut {
  readonly categories?: readonly string[];
  readonly families?: readonly string[];
  readonly minGeneration?: number;
  readonly minVcpus?: number;
  readonly maxVcpus?: number;
  readonly arch?: string;
  readonly spot?: boolean;
  readonly accelerated?: boolean;
}

/** The types of the simulated cloud that a cut leaves. */
export function cloudCatalogue(cut: CatalogueCut = {}): InstanceTypeEntry[] {
  return machineTypes()
    .filter((machine) => isIn(cut, machine))
    .map((machine) => entry(machine, cut.spot ?? true));
}

/** c, m and r of generation 5 and later on amd64, on demand: what cautious users allow. */
export const CMR_ON_DEMAND: CatalogueCut = {
  categories: ['c', 'm', 'r'],
  minGeneration: 5,
  arch: 'amd64',
  spot: false,
};

function isIn(cut: CatalogueCut, machine: MachineType): boolean {
  return (
    (cut.categories?.includes(machine.category) ?? true) &&
    (cut.families?.includes(machine.family) ?? true) &&
    machine.generation >= (cut.minGeneration ?? 0) &&
    machine.vcpus >= (cut.minVcpus ?? 0) &&
    machine.vcpus <= (cut.maxVcpus ?? Number.POSITIVE_INFINITY) &&
    (cut.arch === undefined || machine.arch === cut.arch) &&
    (machine.accelerator === undefined ||
      (cut.accelerated === true && machine.accelerator.resource === 'nvidia.com/gpu'))
  );
}

function entry(machine: MachineType, spot: boolean): InstanceTypeEntry {
  const reserved = reservedOf(machine);
  return {
    Name: machine.name,
    Arch: machine.arch,
    CPUm: machine.vcpus * 1000,
    MemMi: usableMemoryMib(machine),
    Pods: machine.pods,
    GPU: machine.accelerator?.count ?? 0,
    OvCPUm: reserved.milliCpu,
    OvMi: reserved.memoryMib,
    Labels: { family: machine.family, category: machine.category, generation: String(machine.generation) },
    Offerings: machine.zones.flatMap((Zone): OfferingEntry[] => [
      { Zone, CT: 'on-demand', Price: machine.usdPerHour },
      ...(spot ? [{ Zone, CT: 'spot' as const, Price: spotPrice(machine, Zone) }] : []),
    ]),
  };
}
