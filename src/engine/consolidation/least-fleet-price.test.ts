import { describe, expect, it } from 'vitest';
import { aPod, aType, GIB, onDemand } from '../testkit/builders.ts';
import { aFleet, aFleetNode, aFleetPod } from '../testkit/fleet-builder.ts';
import { consolidate } from './consolidate.ts';
import type { Fleet } from './fleet.ts';
import { leastFleetPrice } from './least-fleet-price.ts';

const ROOM = { cpu: 4000, memory: 8 * GIB, pods: 10 };
const type = aType({ capacity: ROOM, offerings: onDemand(1, 'a') });

/** Three nodes, each with a pod that takes a quarter of it. */
function sparse(overrides: Partial<Fleet> = {}, hold = {}): Fleet {
  const names = ['n1', 'n2', 'n3'];
  return aFleet({
    nodes: names.map((name) => aFleetNode(name, { instanceType: type.name, price: 1, allocatable: ROOM, ...hold })),
    groups: [aPod({ requests: { cpu: 1000, memory: GIB } })],
    pods: names.map((name) => aFleetPod(`on-${name}`, name)),
    instanceTypes: [type],
    ...overrides,
  });
}

describe('the least that a fleet can cost', () => {
  it('is what its pods take of the cheapest machines', () => {
    expect(leastFleetPrice(sparse())).toBeCloseTo(0.75, 6);
  });

  it('is the same when no node may go now, unlike the bound of the plan', () => {
    const held = sparse({}, { hold: 'do-not-disrupt' });
    expect(consolidate(held).lowerBound).toBeCloseTo(3, 6);
    expect(leastFleetPrice(held)).toBeCloseTo(0.75, 6);
  });

  it('is less where nodes that are there cost less than what is sold', () => {
    const cheap = sparse({}, { price: 0.1 });
    expect(leastFleetPrice(cheap)).toBeLessThanOrEqual(0.3);
  });
});
