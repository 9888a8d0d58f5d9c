import { describe, expect, it } from 'vitest';
import { machineTypes, reservedOf, spotPrice, usableMemoryMib, ZONES } from './catalogue.ts';

describe('the catalogue of the simulated cloud', () => {
  const types = machineTypes();
  const byName = new Map(types.map((type) => [type.name, type]));

  it('has a thousand types, each with a name of its own', () => {
    expect(types.length).toBeGreaterThan(1000);
    expect(byName.size).toBe(types.length);
  });

  it('knows machines as their price list does', () => {
    expect(byName.get('m5.large')).toMatchObject({ vcpus: 2, memoryMib: 8192, pods: 29, usdPerHour: 0.096 });
    expect(byName.get('c6a.48xlarge')).toMatchObject({ vcpus: 192, memoryMib: 393216, pods: 737, usdPerHour: 7.344 });
    expect(byName.get('t3.small')).toMatchObject({ vcpus: 2, memoryMib: 2048, pods: 11, usdPerHour: 0.0208 });
    expect(byName.get('g5.12xlarge')?.accelerator).toEqual({ resource: 'nvidia.com/gpu', model: 'a10g', count: 4 });
  });

  it('reads category and generation out of the family', () => {
    expect(byName.get('m7i-flex.large')).toMatchObject({ category: 'm', generation: 7, family: 'm7i-flex' });
    expect(byName.get('im4gn.xlarge')).toMatchObject({ category: 'im', generation: 4, arch: 'arm64' });
  });

  it('offers every type in at least two zones', () => {
    expect(types.filter((type) => type.zones.length < 2)).toEqual([]);
    expect(new Set(types.flatMap((type) => type.zones))).toEqual(new Set(ZONES));
  });

  it('sells spot below the on-demand price, at a price of its own in each zone', () => {
    for (const type of types) {
      for (const zone of type.zones) {
        const price = spotPrice(type, zone);
        expect(price).toBeGreaterThan(0);
        expect(price).toBeLessThan(type.usdPerHour);
      }
    }
    const m5 = byName.get('m5.4xlarge')!;
    expect(new Set(m5.zones.map((zone) => spotPrice(m5, zone))).size).toBe(4);
    expect(spotPrice(m5, 'sim-1a')).toBe(spotPrice(m5, 'sim-1a'));
  });

  it('keeps part of the machine for the node itself', () => {
    const type = byName.get('c5.2xlarge')!;
    expect(usableMemoryMib(type)).toBe(15155);
    expect(reservedOf(type)).toEqual({ milliCpu: 90, memoryMib: 993 });
  });
});
