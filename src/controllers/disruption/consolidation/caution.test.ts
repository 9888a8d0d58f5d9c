import { describe, expect, it } from 'vitest';
import type { Fleet } from '../../../engine/consolidation/fleet.ts';
import { aFleet, aFleetNode, aFleetPod } from '../../../engine/testkit/fleet-builder.ts';
import { Caution } from './caution.ts';

/** A fleet at a price, with so many pods. */
function fleetOf(price: number, pods = 20): Fleet {
  const list = Array.from({ length: pods }, (_, index) => aFleetPod(`p${index}`, 'one'));
  return aFleet({ nodes: [aFleetNode('one', { price })], pods: list });
}

describe('caution', () => {
  it('begins by trusting plans', () => {
    expect(new Caution().test).toMatchObject({ order: 'largest-first', slack: 0 });
  });

  it('goes on trusting them while they save most of what they promise', () => {
    const caution = new Caution();
    caution.begun(['a'], 2, fleetOf(10));
    expect([...caution.waitsFor]).toEqual(['a']);
    caution.settled(fleetOf(8.9));
    expect(caution.test.order).toBe('largest-first');
    expect([...caution.waitsFor]).toEqual([]);
  });

  it('puts moves to a harder test each time they saved nothing', () => {
    const caution = new Caution();
    const slacks = [1, 2, 3].map(() => {
      caution.begun(['a'], 2, fleetOf(10));
      caution.settled(fleetOf(9.5));
      return caution.test;
    });
    expect(slacks.map(({ order }) => order)).toEqual(['smallest-first', 'smallest-first', 'smallest-first']);
    expect(slacks.map(({ slack }) => slack)).toEqual([0, 0.08, 0.16]);
    expect(slacks[0]?.losable).toBe(0);
  });

  it('forgets what it learnt when the load is another, and blames nobody for that', () => {
    const caution = new Caution();
    caution.begun(['a'], 2, fleetOf(10));
    caution.settled(fleetOf(10));
    expect(caution.test.order).toBe('smallest-first');
    caution.settled(fleetOf(10, 21));
    expect(caution.test.order).toBe('smallest-first');
    caution.begun(['a'], 2, fleetOf(10));
    caution.settled(fleetOf(12, 30));
    expect(caution.test.order).toBe('largest-first');
  });

  it('knows when the load has fallen since the latest wave', () => {
    const caution = new Caution();
    expect(caution.hasFallen(fleetOf(10))).toBe(false);
    caution.begun(['a'], 2, fleetOf(10));
    expect(caution.hasFallen(fleetOf(10, 19))).toBe(false);
    expect(caution.hasFallen(fleetOf(10, 10))).toBe(true);
  });
});
