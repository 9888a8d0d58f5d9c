/**
 * The machine types of the simulated cloud, generated from the table of families: names, shapes, pod limits, overhead, and prices per zone.
 * The same in every run.
 */
import { seededRandom } from '../../platform/random.ts';
import {
  ACCELERATED_FAMILIES,
  type Accelerator,
  type Architecture,
  BURSTABLE_FAMILIES,
  PROPORTIONAL_FAMILIES,
} from './machine-families.ts';

export const REGION = 'sim-1';
export const ZONES = ['sim-1a', 'sim-1b', 'sim-1c', 'sim-1d'] as const;

/** A machine type as the cloud sells it. */
export interface MachineType {
  readonly name: string;
  readonly family: string;
  /** The letters before the generation: `c`, `m`, `r`, `t`, `g`, `p`, ... */
  readonly category: string;
  readonly generation: number;
  /** The part after the dot in the name. */
  readonly size: string;
  readonly arch: Architecture;
  readonly vcpus: number;
  /** Memory as advertised; see {@link usableMemoryMib} for the usable part. */
  readonly memoryMib: number;
  /** Pods that the machine's network interfaces can address. */
  readonly pods: number;
  readonly accelerator?: Accelerator & { readonly count: number };
  readonly usdPerHour: number;
  readonly zones: readonly string[];
}

/** All machine types, in the order of the table of families. */
export function machineTypes(): MachineType[] {
  return [...proportionalTypes(), ...burstableTypes(), ...acceleratedTypes()];
}

/** The mean spot price per hour of a machine in one zone. It is constant. */
export function spotPrice(machine: MachineType, zone: string): number {
  // Observed ratios to the on-demand price: a tenth of the markets below 0.14, half below 0.32, nine tenths below 0.49.
  const draws = seededRandom('spot').split(machine.name);
  const ratioOfType = 0.14 + 0.36 * draws.next() ** 1.2;
  const ofZone = 0.85 + 0.3 * draws.split(zone).next();
  return dollars(machine.usdPerHour * Math.min(1, ratioOfType * ofZone));
}

/** Memory visible to the operating system: the hypervisor keeps 7.5 % of the advertised memory. */
export function usableMemoryMib(machine: MachineType): number {
  return Math.floor(machine.memoryMib * 0.925);
}

/** Kubelet and system reservations, by the formulas of the large managed services. */
export function reservedOf(machine: MachineType): { readonly milliCpu: number; readonly memoryMib: number } {
  const shares = [60, 10, 5, 5];
  let milliCpu = 0;
  for (let core = 0; core < machine.vcpus; core++) milliCpu += shares[core] ?? 2.5;
  const hardEviction = 100;
  return { milliCpu: Math.ceil(milliCpu), memoryMib: 255 + 11 * machine.pods + hardEviction };
}

function proportionalTypes(): MachineType[] {
  return PROPORTIONAL_FAMILIES.flatMap(({ name, arch, usdPerVcpu, gibPerVcpu, vcpus: sizes }) =>
    sizes.map((vcpus) =>
      machine({ family: name, arch, size: sizeName(vcpus), vcpus, gib: vcpus * gibPerVcpu, usd: vcpus * usdPerVcpu }),
    ),
  );
}

function burstableTypes(): MachineType[] {
  const sizes = [
    ['nano', 2, 0.5, 4],
    ['micro', 2, 1, 4],
    ['small', 2, 2, 11],
    ['medium', 2, 4, 17],
    ['large', 2, 8, 35],
    ['xlarge', 4, 16, 58],
    ['2xlarge', 8, 32, 58],
  ] as const;
  return BURSTABLE_FAMILIES.flatMap(({ name, arch, usdPerGib }) =>
    sizes.map(([size, vcpus, gib, pods]) =>
      machine({ family: name, arch, size, vcpus, gib, pods, usd: gib * usdPerGib }),
    ),
  );
}

function acceleratedTypes(): MachineType[] {
  return ACCELERATED_FAMILIES.flatMap(({ name, arch, accelerator, sizes }) =>
    sizes.map(([vcpus, gib, count, usd]) =>
      machine({
        family: name,
        arch,
        size: sizeName(vcpus),
        vcpus,
        gib,
        usd,
        accelerator: { ...accelerator, count },
      }),
    ),
  );
}

interface Shape {
  readonly family: string;
  readonly arch: Architecture;
  readonly size: string;
  readonly vcpus: number;
  readonly gib: number;
  readonly usd: number;
  readonly pods?: number;
  readonly accelerator?: Accelerator & { readonly count: number };
}

function machine({ family, arch, size, vcpus, gib, usd, pods, accelerator }: Shape): MachineType {
  const [, category = family, generation = '0'] = /^([a-z]+)(\d+)/.exec(family) ?? [];
  return {
    name: `${family}.${size}`,
    family,
    category,
    generation: Number(generation),
    size,
    arch,
    vcpus,
    memoryMib: Math.round(gib * 1024),
    pods: pods ?? podLimit(vcpus),
    ...(accelerator === undefined ? {} : { accelerator }),
    usdPerHour: dollars(usd),
    zones: zonesOf(family, Number(generation), accelerator !== undefined),
  };
}

function sizeName(vcpus: number): string {
  if (vcpus === 1) return 'medium';
  if (vcpus === 2) return 'large';
  return vcpus === 4 ? 'xlarge' : `${vcpus / 4}xlarge`;
}

/** Addresses of the network interfaces of a machine of this size, minus one each, plus two pods that need none. */
function podLimit(vcpus: number): number {
  if (vcpus <= 1) return 8;
  if (vcpus <= 2) return 29;
  if (vcpus <= 8) return 58;
  return vcpus < 64 ? 234 : 737;
}

/** New and accelerated families are not sold in every zone yet; the oldest no longer are. */
function zonesOf(family: string, generation: number, accelerated: boolean): readonly string[] {
  const missing = accelerated ? 2 : generation <= 4 || generation >= 8 ? 1 : 0;
  return missing === 0 ? ZONES : seededRandom('zones').split(family).shuffle(ZONES).slice(missing).sort();
}

/** Rounds to five decimals, as price lists do. */
function dollars(usd: number): number {
  return Math.round(usd * 1e5) / 1e5;
}
