import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../platform/random.ts';
import { compileModel, type PodClass } from '../compile/model.ts';
import type { InstanceType, PodGroup } from '../problem.ts';
import { aPod, aPool, aProblem, aType, GIB, ZONE } from '../testkit/builders.ts';
import { Market } from './market.ts';
import { Purse } from './purse.ts';

const SPREAD = {
  topologyKey: ZONE,
  maxSkew: 1,
  whenUnsatisfiable: 'DoNotSchedule',
  selector: { matchLabels: { app: 'web' } },
} as const;

/** Types of many sizes and prices in two zones, and pods that are all different. */
function manySizes(types: number, pods: number) {
  const random = seededRandom('market');
  const instanceTypes = Array.from({ length: types }, (_, index): InstanceType => {
    const cpu = 1000 * 2 ** (index % 6);
    const memory = (2 + 6 * random.next()) * (cpu / 1000) * GIB;
    const offering = (zone: string, capacityType: 'spot' | 'on-demand') =>
      ({ zone, capacityType, price: (cpu / 1000) * (0.02 + 0.02 * random.next()) }) as const;
    const offerings = [offering('a', 'spot'), offering('a', 'on-demand'), offering('b', 'on-demand')];
    return aType({ name: `t${index}`, capacity: { cpu, memory, pods: 10 + (cpu / 1000) * 8 }, offerings });
  });
  const groups = Array.from({ length: pods }, (_, index): PodGroup => {
    const cpu = Math.round(50 + 30_000 * random.next() ** 3);
    const requests = { cpu, memory: Math.round((0.5 + 8 * random.next()) * (cpu / 1000) * GIB) };
    return aPod({ name: `p${index}`, labels: { app: 'web' }, requests, topologySpread: [SPREAD] });
  });
  const names = instanceTypes.map(({ name }) => name);
  const pools = [
    aPool({ name: 'first', weight: 10, instanceTypes: names.slice(0, types / 2) }),
    aPool({ name: 'second', instanceTypes: names }),
  ];
  return compileModel(aProblem({ pods: groups, pools, instanceTypes }), { preferences: false, preferenceSlack: 0 });
}

describe('what a place costs', () => {
  it('does not depend on how many others have asked', () => {
    const model = manySizes(120, 200);
    const asked = new Market(model, new Purse(model));
    const filterOf = ({ attempts }: PodClass): number => attempts[0]?.options ?? 0;
    for (const podClass of model.classes) {
      const alone = new Market(model, new Purse(model)).places(podClass, filterOf(podClass));
      const places = asked.places(podClass, filterOf(podClass));
      expect({ ...places, prices: [] }).toEqual({ ...alone, prices: [] });
      expect(places.prices.length).toBe(alone.prices.length);
      for (const [index, price] of alone.prices.entries()) expect(places.prices[index]).toBeCloseTo(price, 12);
    }
  });
});
