/**
 * Facts about VM sizes of Azure: which there are, what they have, what they cost per hour (Linux, on demand, East US), and what
 * share of that spot VMs of the series typically cost.
 */
import { dollars, type MachineShape } from '../machine-shape.ts';

interface Series {
  /** The name of a size of this series, with # for the number of vCPUs. */
  readonly name: string;
  readonly arch: MachineShape['arch'];
  readonly usdPerVcpu: number;
  readonly gibPerVcpu: number;
  readonly spotShare: number;
  readonly vcpus: readonly number[];
}

const TO_96 = [2, 4, 8, 16, 32, 48, 64, 96];
const TO_64 = [2, 4, 8, 16, 32, 48, 64];

const SERIES: readonly Series[] = [
  { name: 'Standard_D#s_v3', arch: 'amd64', usdPerVcpu: 0.048, gibPerVcpu: 4, spotShare: 0.2, vcpus: TO_64 },
  { name: 'Standard_D#s_v4', arch: 'amd64', usdPerVcpu: 0.048, gibPerVcpu: 4, spotShare: 0.2, vcpus: TO_64 },
  { name: 'Standard_D#s_v5', arch: 'amd64', usdPerVcpu: 0.048, gibPerVcpu: 4, spotShare: 0.2, vcpus: TO_96 },
  { name: 'Standard_D#ds_v5', arch: 'amd64', usdPerVcpu: 0.0565, gibPerVcpu: 4, spotShare: 0.2, vcpus: TO_96 },
  { name: 'Standard_D#as_v5', arch: 'amd64', usdPerVcpu: 0.043, gibPerVcpu: 4, spotShare: 0.19, vcpus: TO_96 },
  { name: 'Standard_D#s_v6', arch: 'amd64', usdPerVcpu: 0.0505, gibPerVcpu: 4, spotShare: 0.2, vcpus: TO_96 },
  { name: 'Standard_D#ps_v5', arch: 'arm64', usdPerVcpu: 0.0385, gibPerVcpu: 4, spotShare: 0.2, vcpus: TO_64 },
  { name: 'Standard_D#pls_v5', arch: 'arm64', usdPerVcpu: 0.034, gibPerVcpu: 2, spotShare: 0.2, vcpus: TO_64 },
  { name: 'Standard_E#s_v3', arch: 'amd64', usdPerVcpu: 0.063, gibPerVcpu: 8, spotShare: 0.2, vcpus: TO_64 },
  { name: 'Standard_E#s_v5', arch: 'amd64', usdPerVcpu: 0.063, gibPerVcpu: 8, spotShare: 0.2, vcpus: TO_96 },
  { name: 'Standard_E#as_v5', arch: 'amd64', usdPerVcpu: 0.0565, gibPerVcpu: 8, spotShare: 0.19, vcpus: TO_96 },
  {
    name: 'Standard_F#s_v2',
    arch: 'amd64',
    usdPerVcpu: 0.0423,
    gibPerVcpu: 2,
    spotShare: 0.2,
    vcpus: [2, 4, 8, 16, 32, 48, 64, 72],
  },
  {
    name: 'Standard_L#s_v3',
    arch: 'amd64',
    usdPerVcpu: 0.078,
    gibPerVcpu: 8,
    spotShare: 0.25,
    vcpus: [8, 16, 32, 48, 64, 80],
  },
];

/** Rows of name, vCPUs, GiB, GPU, count, USD per hour on demand, share of it that spot costs. */
const ACCELERATED: readonly (readonly [string, number, number, string, number, number, number])[] = [
  ['Standard_NC4as_T4_v3', 4, 28, 'T4', 1, 0.526, 0.25],
  ['Standard_NC8as_T4_v3', 8, 56, 'T4', 1, 0.752, 0.25],
  ['Standard_NC16as_T4_v3', 16, 110, 'T4', 1, 1.204, 0.25],
  ['Standard_NC64as_T4_v3', 64, 440, 'T4', 4, 4.352, 0.25],
  ['Standard_NV36ads_A10_v5', 36, 440, 'A10', 1, 3.2, 0.25],
  ['Standard_NC24ads_A100_v4', 24, 220, 'A100', 1, 3.673, 0.3],
  ['Standard_NC48ads_A100_v4', 48, 440, 'A100', 2, 7.346, 0.3],
  ['Standard_NC96ads_A100_v4', 96, 880, 'A100', 4, 14.692, 0.3],
  ['Standard_ND96asr_v4', 96, 900, 'A100', 8, 27.197, 0.3],
  ['Standard_NC40ads_H100_v5', 40, 320, 'H100', 1, 6.98, 0.3],
  ['Standard_ND96isr_H100_v5', 96, 1900, 'H100', 8, 98.32, 0.3],
];

/** How much dearer a region is than East US. */
const REGIONS: Readonly<Record<string, number>> = {
  eastus: 1,
  eastus2: 1,
  westus2: 1,
  westus3: 1,
  centralus: 1.05,
  canadacentral: 1.1,
  northeurope: 1.115,
  westeurope: 1.198,
  uksouth: 1.156,
  francecentral: 1.167,
  germanywestcentral: 1.198,
  swedencentral: 1.063,
  japaneast: 1.292,
  southeastasia: 1.25,
  australiaeast: 1.25,
  centralindia: 1.052,
  brazilsouth: 1.6,
};

/** Every VM size that we have facts of. */
export function azureVmSizes(): readonly MachineShape[] {
  const plain = SERIES.flatMap(({ name, arch, usdPerVcpu, gibPerVcpu, spotShare, vcpus }) =>
    vcpus.map(
      (count): MachineShape => ({
        name: name.replace('#', `${count}`),
        family: name.replace('Standard_', '').replace('#', ''),
        arch,
        vcpus: count,
        memoryMib: count * gibPerVcpu * 1024,
        onDemand: dollars(count * usdPerVcpu),
        spot: dollars(count * usdPerVcpu * spotShare),
      }),
    ),
  );
  const accelerated = ACCELERATED.map(
    ([name, vcpus, gib, model, count, usd, share]): MachineShape => ({
      name,
      family: name.replace('Standard_', '').replace(/\d+/, ''),
      arch: 'amd64',
      vcpus,
      memoryMib: gib * 1024,
      accelerator: { resource: 'nvidia.com/gpu', model, count },
      onDemand: usd,
      spot: dollars(usd * share),
    }),
  );
  return [...plain, ...accelerated];
}

/** The regions with known prices, the cheapest first. */
export function azureRegions(): readonly [string, ...string[]] {
  const [first = '', ...others] = Object.keys(REGIONS);
  return [first, ...others];
}

/** Prices of a region relative to the table. An unknown region counts as a fifth more expensive. */
export function azureRegionFactor(region: string): number {
  return REGIONS[region.toLowerCase().replaceAll(' ', '')] ?? 1.2;
}
