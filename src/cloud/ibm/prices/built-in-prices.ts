/**
 * Prices for start-up, until the Global Catalog has answered: per vCPU and GiB and hour, by family, from IBM's list for us-south. Other
 * families, mainly GPUs, are not offered before their price is known.
 */
import type { MachineShape } from '../profiles/machine-shape.ts';

interface Rate {
  readonly vcpu: number;
  readonly gib: number;
  /** Per GB of the included disks. */
  readonly gb?: number;
}

/** 0.111 for four vCPUs and 0.09 for 16 GiB: the catalogue's price of a balanced machine of the second generation. */
const BALANCED: Rate = { vcpu: 0.02775, gib: 0.005625 };
const WITH_DISK: Rate = { ...BALANCED, gb: 0.0000243 };

const RATES: Readonly<Record<string, Rate>> = {
  ...Object.fromEntries(
    ['bx2', 'cx2', 'mx2', 'bxf', 'cxf', 'mxf', 'nxf', 'bx4', 'cx4', 'mx4'].map((family) => [family, BALANCED]),
  ),
  ...Object.fromEntries(['bx2d', 'cx2d', 'mx2d', 'bx3d', 'cx3d', 'mx3d'].map((family) => [family, WITH_DISK])),
};

/** USD per hour on demand; undefined if it is not in the table. */
export function builtInPrice({ family, vcpu, memoryGiB, localStorageGB, gpu }: MachineShape): number | undefined {
  const rate = RATES[family];
  if (rate === undefined || gpu !== undefined) return undefined;
  return vcpu * rate.vcpu + memoryGiB * rate.gib + localStorageGB * (rate.gb ?? 0);
}
