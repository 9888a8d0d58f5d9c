import { describe, expect, it } from 'vitest';
import type { Fleet } from '../../../engine/consolidation/fleet.ts';
import { aFleet, aFleetNode, aFleetPod } from '../../../engine/testkit/fleet-builder.ts';
import { SILENT_LOGGER } from '../../../platform/logger.ts';
import { VirtualClock } from '../../../platform/virtual-clock.ts';
import { aStateNode } from '../../../state/testkit/a-state-node.ts';
import { Caution } from './caution.ts';

/** A fleet at a price, with so many pods. */
function fleetOf(price: number, pods = 20): Fleet {
  const list = Array.from({ length: pods }, (_, index) => aFleetPod(`p${index}`, 'one'));
  return aFleet({ nodes: [aFleetNode('one', { price })], pods: list });
}

function aCaution(clock = new VirtualClock(), logger = SILENT_LOGGER): Caution {
  return new Caution({ clock, logger });
}

const MINUTE = 60_000;

describe('caution', () => {
  it('begins by trusting plans', () => {
    expect(aCaution().test).toMatchObject({ order: 'largest-first', slack: 0 });
  });

  it('goes on trusting them while they save most of what they promise', () => {
    const caution = aCaution();
    caution.begun(['a'], 2, fleetOf(10));
    expect([...caution.waitsFor]).toEqual(['a']);
    caution.settled(fleetOf(8.9), []);
    expect(caution.test.order).toBe('largest-first');
    expect([...caution.waitsFor]).toEqual([]);
  });

  it('puts moves to a harder test each time they saved nothing', () => {
    const caution = aCaution();
    const slacks = [1, 2, 3].map(() => {
      caution.begun(['a'], 2, fleetOf(10));
      caution.settled(fleetOf(9.5), []);
      return caution.test;
    });
    expect(slacks.map(({ order }) => order)).toEqual(['smallest-first', 'smallest-first', 'smallest-first']);
    expect(slacks.map(({ slack }) => slack)).toEqual([0, 0.08, 0.16]);
    expect(slacks[0]?.losable).toBe(0);
  });

  it('learns nothing from a wave that nothing came of, because its claims are all still there', () => {
    const caution = aCaution();
    const nodes = ['a', 'b', 'c'].map((name) => aStateNode({ name }));
    caution.begun(['uid-a', 'uid-b'], 2, fleetOf(10));
    caution.settled(fleetOf(10), nodes);
    expect(caution.test.order).toBe('largest-first');
    caution.begun(['uid-a', 'uid-b'], 2, fleetOf(10));
    caution.settled(fleetOf(10), nodes.slice(1));
    expect(caution.test.order).toBe('smallest-first');
  });

  it('forgets what it learnt when the load is another, and blames nobody for that', () => {
    const caution = aCaution();
    caution.begun(['a'], 2, fleetOf(10));
    caution.settled(fleetOf(10), []);
    expect(caution.test.order).toBe('smallest-first');
    caution.settled(fleetOf(10, 21), []);
    expect(caution.test.order).toBe('smallest-first');
    caution.begun(['a'], 2, fleetOf(10));
    caution.settled(fleetOf(12, 30), []);
    expect(caution.test.order).toBe('largest-first');
  });

  it('knows when the load has fallen since the latest wave', () => {
    const caution = aCaution();
    expect(caution.hasFallen(fleetOf(10))).toBe(false);
    caution.begun(['a'], 2, fleetOf(10));
    expect(caution.hasFallen(fleetOf(10, 19))).toBe(false);
    expect(caution.hasFallen(fleetOf(10, 10))).toBe(true);
  });

  describe('when moves still save nothing that leave as much room as can be asked for', () => {
    const clock = new VirtualClock();
    const told: unknown[] = [];
    const logger = { ...SILENT_LOGGER, info: (_: string, fields?: object) => void told.push(fields) };

    /** So many waves that save nothing, and a look after each. */
    function fail(caution: Caution, waves = 1): void {
      for (let wave = 0; wave < waves; wave++) {
        caution.begun(['a'], 2, fleetOf(10));
        caution.settled(fleetOf(10), []);
      }
    }

    function paused(): Caution {
      told.length = 0;
      const caution = aCaution(clock, logger);
      fail(caution, 6);
      expect(caution.test.paused).toBeUndefined();
      fail(caution);
      return caution;
    }

    it('leaves nothing to the scheduler for ten minutes, and says so', async () => {
      const caution = paused();
      expect(caution.test.paused).toBe(true);
      expect(told).toEqual([{ minutes: 10 }]);
      await clock.advance(10 * MINUTE);
      expect(caution.test).toEqual({ order: 'smallest-first', slack: 0.4, losable: 0 });
    });

    it('waits twice as long each time, up to four hours', async () => {
      const caution = paused();
      for (let again = 0; again < 6; again++) {
        await clock.advance(240 * MINUTE);
        fail(caution);
      }
      expect(told).toEqual([10, 20, 40, 80, 160, 240, 240].map((minutes) => ({ minutes })));
    });

    it('learns nothing about the scheduler from what is begun meanwhile', async () => {
      const caution = paused();
      fail(caution);
      caution.begun(['a'], 2, fleetOf(10));
      caution.settled(fleetOf(8), []);
      expect(caution.test.paused).toBe(true);
      await clock.advance(10 * MINUTE);
      fail(caution);
      expect(told).toEqual([{ minutes: 10 }, { minutes: 20 }]);
    });

    it('begins with ten minutes again after a wave that saved what it promised', async () => {
      const caution = paused();
      await clock.advance(10 * MINUTE);
      caution.begun(['a'], 2, fleetOf(10));
      caution.settled(fleetOf(8), []);
      fail(caution);
      expect(told).toEqual([{ minutes: 10 }, { minutes: 10 }]);
    });

    it('ends the pause when the load changes', () => {
      const caution = paused();
      caution.settled(fleetOf(10, 30), []);
      expect(caution.test).toMatchObject({ order: 'largest-first', slack: 0 });
      expect(caution.test.paused).toBeUndefined();
    });
  });
});
