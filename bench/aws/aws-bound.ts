/** What a fleet on the AWS ground must cost at least: the cheapest way to hold the pods on what is sold there. */
import type { InstanceTypeEntry } from '../../src/cloud/simulated/instance-type-entries.ts';
import type { SoldType } from '../../test/aws/aws-ground-types.ts';
import { type Load, problemOf } from '../end-to-end/load.ts';
import { lowerBoundOf } from '../end-to-end/lower-bound.ts';

/** As the machine room has it: what firmware keeps, and what EKS reserves for the kubelet. */
const MEMORY_LEFT = 0.94;
const EVICTION_MIB = 100;
const CORE_SHARES = [60, 10, 5, 5];
const FURTHER_SHARE = 2.5;

/** The same types that the pool of the benchmark allows: c, m and r of the third generation and later, on x86. */
export function isAllowed({ name, architecture }: SoldType): boolean {
  const [, generation = '0'] = /^[cmr](\d+)/.exec(name) ?? [];
  return architecture === 'x86_64' && Number(generation) > 2;
}

/** Dollars an hour that no fleet for these pods is below. */
export function awsBound(load: Load, types: readonly SoldType[]): number {
  return lowerBoundOf(problemOf(load.pods, load, types.filter(isAllowed).map(entry)));
}

function entry(type: SoldType): InstanceTypeEntry {
  const offerings = (prices: Readonly<Record<string, number>>, CT: 'spot' | 'on-demand') =>
    Object.entries(prices).map(([Zone, Price]) => ({ Zone, CT, Price }));
  let reserved = 0;
  for (let core = 0; core < type.vcpus; core++) reserved += CORE_SHARES[core] ?? FURTHER_SHARE;
  return {
    Name: type.name,
    Arch: 'amd64',
    CPUm: type.vcpus * 1000,
    MemMi: Math.floor(type.memoryMib * MEMORY_LEFT),
    Pods: type.maxPods,
    GPU: 0,
    OvCPUm: Math.floor(reserved),
    OvMi: 11 * type.maxPods + 255 + EVICTION_MIB,
    Labels: {},
    Offerings: [...offerings(type.spot, 'spot'), ...offerings(type.onDemand, 'on-demand')],
  };
}
