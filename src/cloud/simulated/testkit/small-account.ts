/** Small accounts with the simulated cloud, for tests. */
import type { InstanceType, Offering } from '../../../engine/problem.ts';
import { type AccountSettings, NO_FAULTS, STILL_MARKET } from '../account-settings.ts';

const GIB = 1024 ** 3;

/** A type with that many cores, on-demand and spot in both zones. */
export function aType(name: string, cores: number): InstanceType {
  const offerings = ['zone-a', 'zone-b'].flatMap((zone): Offering[] => [
    { zone, capacityType: 'on-demand', price: 0.05 * cores },
    { zone, capacityType: 'spot', price: zone === 'zone-a' ? 0.015 * cores : 0.018 * cores },
  ]);
  return {
    name,
    labels: { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/os': 'linux' },
    capacity: { cpu: 1000 * cores, memory: 4 * GIB * cores, pods: 110 },
    overhead: { cpu: 100, memory: GIB / 4 },
    offerings,
  };
}

/** An account with three types in two zones of one region, without market changes or faults. */
export function anAccount(overrides: Partial<AccountSettings> = {}): AccountSettings {
  return {
    regions: [{ name: 'region-1', zones: ['zone-a', 'zone-b'] }],
    catalogue: [aType('small', 2), aType('medium', 4), aType('large', 8)],
    market: STILL_MARKET,
    reservations: [],
    overrides: [],
    faults: NO_FAULTS,
    startMs: 20_000,
    stopMs: 5_000,
    ...overrides,
  };
}
