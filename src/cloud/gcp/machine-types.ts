/**
 * Facts about machine types of Compute Engine: which there are, what they have, what a vCPU and a GiB cost per hour on
 * demand in us-central1, and what share of that spot instances of the family typically cost. Shared-core and memory-optimised families are left out.
 */
import { dollars, type MachineShape } from '../machine-shape.ts';

interface Family {
  readonly name: string;
  readonly arch: MachineShape['arch'];
  readonly usdPerVcpu: number;
  readonly usdPerGib: number;
  readonly spotShare: number;
  /** GiB per vCPU by the middle part of the name. */
  readonly shapes: Readonly<Record<string, number>>;
  readonly vcpus: readonly number[];
}

const GENERAL = { standard: 4, highmem: 8, highcpu: 1 } as const;

const FAMILIES: readonly Family[] = [
  {
    name: 'e2',
    arch: 'amd64',
    usdPerVcpu: 0.021811,
    usdPerGib: 0.002923,
    spotShare: 0.4,
    shapes: GENERAL,
    vcpus: [2, 4, 8, 16, 32],
  },
  {
    name: 'n1',
    arch: 'amd64',
    usdPerVcpu: 0.031611,
    usdPerGib: 0.004237,
    spotShare: 0.21,
    shapes: { standard: 3.75, highmem: 6.5, highcpu: 0.9 },
    vcpus: [1, 2, 4, 8, 16, 32, 64, 96],
  },
  {
    name: 'n2',
    arch: 'amd64',
    usdPerVcpu: 0.031611,
    usdPerGib: 0.004237,
    spotShare: 0.24,
    shapes: GENERAL,
    vcpus: [2, 4, 8, 16, 32, 48, 64, 80],
  },
  {
    name: 'n2d',
    arch: 'amd64',
    usdPerVcpu: 0.027502,
    usdPerGib: 0.003686,
    spotShare: 0.24,
    shapes: GENERAL,
    vcpus: [2, 4, 8, 16, 32, 48, 64, 80, 96],
  },
  {
    name: 'n4',
    arch: 'amd64',
    usdPerVcpu: 0.030821,
    usdPerGib: 0.003543,
    spotShare: 0.35,
    shapes: { standard: 4, highmem: 8, highcpu: 2 },
    vcpus: [2, 4, 8, 16, 32, 48, 64, 80],
  },
  {
    name: 'c2',
    arch: 'amd64',
    usdPerVcpu: 0.03398,
    usdPerGib: 0.00455,
    spotShare: 0.24,
    shapes: { standard: 4 },
    vcpus: [4, 8, 16, 30, 60],
  },
  {
    name: 'c2d',
    arch: 'amd64',
    usdPerVcpu: 0.029563,
    usdPerGib: 0.003959,
    spotShare: 0.24,
    shapes: { standard: 4, highmem: 8, highcpu: 2 },
    vcpus: [2, 4, 8, 16, 32, 56, 112],
  },
  {
    name: 'c3',
    arch: 'amd64',
    usdPerVcpu: 0.03398,
    usdPerGib: 0.00456,
    spotShare: 0.3,
    shapes: { standard: 4, highmem: 8, highcpu: 2 },
    vcpus: [4, 8, 22, 44, 88, 176],
  },
  {
    name: 'c3d',
    arch: 'amd64',
    usdPerVcpu: 0.029563,
    usdPerGib: 0.003959,
    spotShare: 0.28,
    shapes: { standard: 4, highmem: 8, highcpu: 2 },
    vcpus: [4, 8, 16, 30, 60, 90, 180, 360],
  },
  {
    name: 't2d',
    arch: 'amd64',
    usdPerVcpu: 0.027502,
    usdPerGib: 0.003686,
    spotShare: 0.24,
    shapes: { standard: 4 },
    vcpus: [1, 2, 4, 8, 16, 32, 48, 60],
  },
  {
    name: 't2a',
    arch: 'arm64',
    usdPerVcpu: 0.0253,
    usdPerGib: 0.0033,
    spotShare: 0.33,
    shapes: { standard: 4 },
    vcpus: [1, 2, 4, 8, 16, 32, 48],
  },
  {
    name: 'c4a',
    arch: 'arm64',
    usdPerVcpu: 0.0305,
    usdPerGib: 0.0036,
    spotShare: 0.35,
    shapes: { standard: 4, highmem: 8, highcpu: 2 },
    vcpus: [1, 2, 4, 8, 16, 32, 48, 64, 72],
  },
];

/** Rows of name, vCPUs, GiB, accelerator, count, USD per hour on demand, share of it that spot costs. */
const ACCELERATED: readonly (readonly [string, number, number, string, number, number, number])[] = [
  ...[4, 8, 12, 16, 32].map(
    (vcpus) => [`g2-standard-${vcpus}`, vcpus, vcpus * 4, 'nvidia-l4', 1, 0.56 + vcpus * 0.036696, 0.4] as const,
  ),
  ['g2-standard-24', 24, 96, 'nvidia-l4', 2, 2.000704, 0.4],
  ['g2-standard-48', 48, 192, 'nvidia-l4', 4, 4.001408, 0.4],
  ['g2-standard-96', 96, 384, 'nvidia-l4', 8, 8.002816, 0.4],
  ['a2-highgpu-1g', 12, 85, 'nvidia-tesla-a100', 1, 3.673385, 0.4],
  ['a2-highgpu-2g', 24, 170, 'nvidia-tesla-a100', 2, 7.34677, 0.4],
  ['a2-highgpu-4g', 48, 340, 'nvidia-tesla-a100', 4, 14.69354, 0.4],
  ['a2-highgpu-8g', 96, 680, 'nvidia-tesla-a100', 8, 29.38708, 0.4],
  ['a2-ultragpu-1g', 12, 170, 'nvidia-a100-80gb', 1, 5.06879, 0.45],
  ['a3-highgpu-8g', 208, 1872, 'nvidia-h100-80gb', 8, 88.250688, 0.35],
];

/** How much dearer a region is than us-central1. */
const REGIONS: Readonly<Record<string, number>> = {
  'us-central1': 1,
  'us-east1': 1,
  'us-east4': 1.126,
  'us-west1': 1,
  'us-west2': 1.201,
  'europe-west1': 1.1,
  'europe-west2': 1.288,
  'europe-west3': 1.288,
  'europe-west4': 1.101,
  'asia-east1': 1.158,
  'asia-northeast1': 1.284,
  'asia-south1': 1.201,
  'asia-southeast1': 1.233,
  'australia-southeast1': 1.419,
  'southamerica-east1': 1.587,
};

const PERSISTENT = ['pd-balanced', 'pd-ssd', 'pd-extreme', 'pd-standard'];
const HYPERDISK = ['hyperdisk-balanced', 'hyperdisk-throughput', 'hyperdisk-extreme'];

/** Kinds of boot disk that the instances of a family take, the usual one first; other kinds are refused at the insert. */
const BOOT_DISKS: Readonly<Record<string, readonly string[]>> = {
  n2: [...PERSISTENT, ...HYPERDISK],
  n2d: [...PERSISTENT, 'hyperdisk-throughput'],
  n4: HYPERDISK,
  c3: ['pd-balanced', 'pd-ssd', 'pd-extreme', ...HYPERDISK],
  c3d: ['pd-balanced', 'pd-ssd', ...HYPERDISK],
  c4a: HYPERDISK,
  t2d: ['pd-balanced', 'pd-ssd', 'pd-standard', 'hyperdisk-throughput'],
  g2: ['pd-balanced', 'pd-ssd', 'pd-standard', 'hyperdisk-throughput'],
  a2: [...PERSISTENT, 'hyperdisk-balanced'],
  a3: ['pd-balanced', 'pd-ssd', ...HYPERDISK],
};

/** Kinds of boot disk of a machine type, the usual one first. */
export function bootDisksOf(machineType: string): readonly [string, ...string[]] {
  const [usual = 'pd-balanced', ...others] = BOOT_DISKS[machineType.slice(0, machineType.indexOf('-'))] ?? PERSISTENT;
  return [usual, ...others];
}

/** Every machine type that we have facts of. */
export function gcpMachineTypes(): readonly MachineShape[] {
  const plain = FAMILIES.flatMap(({ name, arch, usdPerVcpu, usdPerGib, spotShare, shapes, vcpus }) =>
    Object.entries(shapes).flatMap(([shape, gibPerVcpu]) =>
      vcpus.map((count): MachineShape => {
        const onDemand = dollars(count * (usdPerVcpu + gibPerVcpu * usdPerGib));
        return {
          name: `${name}-${shape}-${count}`,
          family: name,
          arch,
          vcpus: count,
          memoryMib: Math.round(count * gibPerVcpu * 1024),
          onDemand,
          spot: dollars(onDemand * spotShare),
        };
      }),
    ),
  );
  const accelerated = ACCELERATED.map(
    ([name, vcpus, gib, model, count, usd, share]): MachineShape => ({
      name,
      family: name.slice(0, name.indexOf('-')),
      arch: 'amd64',
      vcpus,
      memoryMib: gib * 1024,
      accelerator: { resource: 'nvidia.com/gpu', model, count },
      onDemand: dollars(usd),
      spot: dollars(usd * share),
    }),
  );
  return [...plain, ...accelerated];
}

/** The regions with known prices, the cheapest first. */
export function gcpRegions(): readonly [string, ...string[]] {
  const [first = '', ...others] = Object.keys(REGIONS);
  return [first, ...others];
}

/** Prices of a region relative to the table. An unknown region counts as a fifth more expensive. */
export function gcpRegionFactor(region: string): number {
  return REGIONS[region] ?? 1.2;
}
