/**
 * Facts about real machine families: the price per vCPU (USD, on demand, in a large region), the memory per vCPU, and the sizes. Within
 * such a family everything is proportional to the vCPUs, so one row stands for up to eleven machine types.
 */

export type Architecture = 'amd64' | 'arm64';

/** A family whose sizes differ only in the number of vCPUs. */
export interface ProportionalFamily {
  readonly name: string;
  readonly arch: Architecture;
  readonly usdPerVcpu: number;
  readonly gibPerVcpu: number;
  /** The sizes, as numbers of vCPUs. */
  readonly vcpus: readonly number[];
}

/** A family of small machines with two vCPUs each, priced by memory. */
export interface BurstableFamily {
  readonly name: string;
  readonly arch: Architecture;
  readonly usdPerGib: number;
}

/** The accelerators of a family: their resource name, and their model as in the label. */
export interface Accelerator {
  readonly resource: 'nvidia.com/gpu' | 'amd.com/gpu';
  readonly model: string;
}

/** A family with accelerators; each size has its own price. */
export interface AcceleratedFamily {
  readonly name: string;
  readonly arch: Architecture;
  readonly accelerator: Accelerator;
  /** Rows of vCPUs, GiB, accelerators, USD per hour. */
  readonly sizes: readonly (readonly [vcpus: number, gib: number, count: number, usd: number])[];
}

const TO_64 = [2, 4, 8, 16, 32, 48, 64];
const TO_96 = [2, 4, 8, 16, 32, 48, 64, 96];
const TO_128 = [...TO_96, 128];
const TO_192 = [...TO_96, 128, 192];
const TO_384 = [...TO_96, 128, 192, 384];
const SKYLAKE = [2, 4, 8, 16, 36, 48, 72, 96];
const NO_128 = [...TO_96, 192];
const GRAVITON_64 = [1, 2, 4, 8, 16, 32, 48, 64];
const GRAVITON_192 = [1, ...TO_96, 192];
const EPYC_192 = [1, ...TO_192];
const STORAGE_96 = [2, 4, 8, 12, 24, 48, 96];

type Row = readonly [name: string, usdPerVcpu: number, vcpus: readonly number[]];

function proportional(arch: Architecture, gibPerVcpu: number, rows: readonly Row[]): ProportionalFamily[] {
  return rows.map(([name, usdPerVcpu, vcpus]) => ({ name, arch, usdPerVcpu, gibPerVcpu, vcpus }));
}

export const PROPORTIONAL_FAMILIES: readonly ProportionalFamily[] = [
  ...proportional('amd64', 1.875, [
    ['c3', 0.0525, [2, 4, 8, 16, 32]],
    ['c4', 0.05, [2, 4, 8, 16]],
  ]),
  ...proportional('amd64', 2, [
    ['c5', 0.0425, SKYLAKE],
    ['c5a', 0.0385, TO_96],
    ['c5ad', 0.043, TO_96],
    ['c5d', 0.048, SKYLAKE],
    ['c6a', 0.03825, TO_192],
    ['c6i', 0.0425, TO_128],
    ['c6id', 0.0504, TO_128],
    ['c6in', 0.0567, TO_128],
    ['c7a', 0.05132, EPYC_192],
    ['c7i', 0.04463, NO_128],
    ['c7i-flex', 0.0424, TO_64],
    ['c8a', 0.05388, GRAVITON_192],
    ['c8i', 0.04686, TO_384],
    ['c8i-flex', 0.04451, TO_64],
    ['c8id', 0.05544, TO_384],
    ['c8ib', 0.06804, TO_384],
    ['c8in', 0.06804, TO_384],
    ['c8ine', 0.08505, [2, 4, 8, 16, 32, 48]],
  ]),
  ...proportional('arm64', 2, [
    ['c6g', 0.034, GRAVITON_64],
    ['c6gd', 0.0384, GRAVITON_64],
    ['c6gn', 0.0432, GRAVITON_64],
    ['c7g', 0.0363, GRAVITON_64],
    ['c7gd', 0.0454, GRAVITON_64],
    ['c7gn', 0.0624, GRAVITON_64],
    ['c8g', 0.03988, GRAVITON_192],
    ['c8gd', 0.04899, GRAVITON_192],
    ['c8gn', 0.05925, GRAVITON_192],
    ['c8gb', 0.05925, GRAVITON_192],
    ['c9g', 0.04347, GRAVITON_192],
    ['c9gd', 0.0534, GRAVITON_192],
  ]),
  ...proportional('amd64', 2.625, [['c5n', 0.054, [2, 4, 8, 16, 36, 72]]]),
  ...proportional('amd64', 3.75, [['m3', 0.0665, [1, 2, 4, 8]]]),
  ...proportional('amd64', 4, [
    ['m4', 0.05, [2, 4, 8, 16, 40, 64]],
    ['m5', 0.048, TO_96],
    ['m5a', 0.043, TO_96],
    ['m5ad', 0.0515, TO_96],
    ['m5d', 0.0565, TO_96],
    ['m5dn', 0.068, TO_96],
    ['m5n', 0.0595, TO_96],
    ['m5zn', 0.0826, [2, 4, 8, 12, 24, 48]],
    ['m6a', 0.0432, TO_192],
    ['m6i', 0.048, TO_128],
    ['m6id', 0.05933, TO_128],
    ['m6idn', 0.07956, TO_128],
    ['m6in', 0.06962, TO_128],
    ['m7a', 0.05796, EPYC_192],
    ['m7i', 0.0504, NO_128],
    ['m7i-flex', 0.04788, TO_64],
    ['m8a', 0.06086, GRAVITON_192],
    ['m8i', 0.05292, TO_384],
    ['m8i-flex', 0.05028, TO_64],
    ['m8id', 0.06526, TO_384],
    ['m8ib', 0.08354, TO_384],
    ['m8in', 0.08354, TO_384],
    ['m8idn', 0.09547, TO_384],
    ['m8idb', 0.09547, TO_384],
    ['m8ine', 0.10443, [2, 4, 8, 16, 32, 48]],
    ['m8azn', 0.10323, [1, 2, 4, 12, 24, 48, 96]],
    ['d3en', 0.13142, [4, 8, 16, 24, 32, 48]],
  ]),
  ...proportional('arm64', 4, [
    ['m6g', 0.0385, GRAVITON_64],
    ['m6gd', 0.0452, GRAVITON_64],
    ['m7g', 0.0408, GRAVITON_64],
    ['m7gd', 0.0534, GRAVITON_64],
    ['m8g', 0.04488, GRAVITON_192],
    ['m8gd', 0.05766, GRAVITON_192],
    ['m8gn', 0.07275, GRAVITON_192],
    ['m8gb', 0.07275, GRAVITON_192],
    ['m9g', 0.04892, GRAVITON_192],
    ['m9gd', 0.06285, GRAVITON_192],
    ['im4gn', 0.09095, [2, 4, 8, 16, 32, 64]],
  ]),
  ...proportional('arm64', 6, [['is4gen', 0.14408, [1, 2, 4, 8, 16, 32]]]),
  ...proportional('amd64', 7.625, [
    ['r3', 0.08313, [2, 4, 8, 16, 32]],
    ['d2', 0.1725, [4, 8, 16]],
    ['i2', 0.21325, [4, 8, 16, 32]],
    ['r4', 0.0665, [2, 4, 8, 16, 32, 64]],
    ['i3', 0.078, [2, 4, 8, 16, 32, 64]],
  ]),
  ...proportional('amd64', 8, [
    ['r5', 0.063, TO_96],
    ['r5a', 0.0565, TO_96],
    ['r5ad', 0.0655, TO_96],
    ['r5b', 0.0745, TO_96],
    ['r5d', 0.072, TO_96],
    ['r5dn', 0.0835, TO_96],
    ['r5n', 0.0745, TO_96],
    ['r6a', 0.0567, TO_192],
    ['r6i', 0.063, TO_128],
    ['r6id', 0.0756, TO_128],
    ['r6idn', 0.0977, TO_128],
    ['r6in', 0.08717, TO_128],
    ['r7a', 0.07608, EPYC_192],
    ['r7i', 0.06615, NO_128],
    ['r7iz', 0.093, [2, 4, 8, 16, 32, 48, 64, 128]],
    ['r8a', 0.07988, GRAVITON_192],
    ['r8i', 0.06946, TO_384],
    ['r8i-flex', 0.06599, TO_64],
    ['r8id', 0.08316, TO_384],
    ['r8ib', 0.1046, TO_384],
    ['r8in', 0.1046, TO_384],
    ['r8idn', 0.11724, TO_384],
    ['r8idb', 0.11724, TO_384],
    ['d3', 0.12487, [4, 8, 16, 32]],
    ['i3en', 0.113, STORAGE_96],
    ['i4i', 0.0858, TO_128],
    ['i7i', 0.0944, NO_128],
    ['i7ie', 0.12995, [...STORAGE_96, 192]],
    ['z1d', 0.093, [2, 4, 8, 12, 24, 48]],
  ]),
  ...proportional('arm64', 8, [
    ['r6g', 0.0504, GRAVITON_64],
    ['r6gd', 0.0576, GRAVITON_64],
    ['r7g', 0.0536, GRAVITON_64],
    ['r7gd', 0.06804, GRAVITON_64],
    ['r8g', 0.05891, GRAVITON_192],
    ['r8gd', 0.07348, GRAVITON_192],
    ['r8gn', 0.09109, GRAVITON_192],
    ['r8gb', 0.09109, GRAVITON_192],
    ['i4g', 0.07722, [2, 4, 8, 16, 32, 64]],
    ['i8g', 0.0858, NO_128],
    ['i8ge', 0.11865, [...STORAGE_96, 192]],
  ]),
  ...proportional('amd64', 16, [
    ['x2idn', 0.1042, [64, 96, 128]],
    ['x8i', 0.10941, TO_384],
  ]),
  ...proportional('arm64', 16, [
    ['x2gd', 0.0835, GRAVITON_64],
    ['x8g', 0.0977, GRAVITON_192],
  ]),
  ...proportional('amd64', 32, [
    ['x2iedn', 0.20841, [4, 8, 16, 32, 64, 96, 128]],
    ['x2iezn', 0.2085, [8, 16, 24, 32, 48]],
  ]),
  ...proportional('amd64', 13.714, [
    ['u7i-6tb', 0.14016, [448]],
    ['u7i-12tb', 0.14016, [896]],
  ]),
];

export const BURSTABLE_FAMILIES: readonly BurstableFamily[] = [
  { name: 't2', arch: 'amd64', usdPerGib: 0.0116 },
  { name: 't3', arch: 'amd64', usdPerGib: 0.0104 },
  { name: 't3a', arch: 'amd64', usdPerGib: 0.0094 },
  { name: 't4g', arch: 'arm64', usdPerGib: 0.0084 },
];

const nvidia = (model: string): Accelerator => ({ resource: 'nvidia.com/gpu', model });

export const ACCELERATED_FAMILIES: readonly AcceleratedFamily[] = [
  {
    name: 'g4ad',
    arch: 'amd64',
    accelerator: { resource: 'amd.com/gpu', model: 'radeon-pro-v520' },
    sizes: [
      [4, 16, 1, 0.37853],
      [8, 32, 1, 0.54117],
      [16, 64, 1, 0.867],
      [32, 128, 2, 1.734],
      [64, 256, 4, 3.468],
    ],
  },
  {
    name: 'g4dn',
    arch: 'amd64',
    accelerator: nvidia('t4'),
    sizes: [
      [4, 16, 1, 0.526],
      [8, 32, 1, 0.752],
      [16, 64, 1, 1.204],
      [32, 128, 1, 2.176],
      [48, 192, 4, 3.912],
      [64, 256, 1, 4.352],
    ],
  },
  {
    name: 'g5',
    arch: 'amd64',
    accelerator: nvidia('a10g'),
    sizes: [
      [4, 16, 1, 1.006],
      [8, 32, 1, 1.212],
      [16, 64, 1, 1.624],
      [32, 128, 1, 2.448],
      [48, 192, 4, 5.672],
      [64, 256, 1, 4.096],
      [96, 384, 4, 8.144],
      [192, 768, 8, 16.288],
    ],
  },
  {
    name: 'g5g',
    arch: 'arm64',
    accelerator: nvidia('t4g'),
    sizes: [
      [4, 8, 1, 0.42],
      [8, 16, 1, 0.556],
      [16, 32, 1, 0.828],
      [32, 64, 1, 1.372],
      [64, 128, 2, 2.744],
    ],
  },
  {
    name: 'g6',
    arch: 'amd64',
    accelerator: nvidia('l4'),
    sizes: [
      [4, 16, 1, 0.8048],
      [8, 32, 1, 0.9776],
      [16, 64, 1, 1.3232],
      [32, 128, 1, 2.0144],
      [48, 192, 4, 4.6016],
      [64, 256, 1, 3.3968],
      [96, 384, 4, 6.6752],
      [192, 768, 8, 13.3504],
    ],
  },
  {
    name: 'g6e',
    arch: 'amd64',
    accelerator: nvidia('l40s'),
    sizes: [
      [4, 32, 1, 1.861],
      [8, 64, 1, 2.2421],
      [16, 128, 1, 3.0042],
      [32, 256, 1, 4.5286],
      [48, 384, 4, 10.4926],
      [64, 512, 1, 7.5772],
      [96, 768, 4, 15.0656],
      [192, 1536, 8, 30.1312],
    ],
  },
  { name: 'p3dn', arch: 'amd64', accelerator: nvidia('v100'), sizes: [[96, 768, 8, 31.212]] },
  { name: 'p4d', arch: 'amd64', accelerator: nvidia('a100'), sizes: [[96, 1152, 8, 21.958]] },
  { name: 'p4de', arch: 'amd64', accelerator: nvidia('a100-80g'), sizes: [[96, 1152, 8, 27.447]] },
  {
    name: 'p5',
    arch: 'amd64',
    accelerator: nvidia('h100'),
    sizes: [
      [16, 256, 1, 6.88],
      [192, 2048, 8, 55.04],
    ],
  },
  { name: 'p5en', arch: 'amd64', accelerator: nvidia('h200'), sizes: [[192, 2048, 8, 63.296]] },
];
