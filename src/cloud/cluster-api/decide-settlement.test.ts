import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CoreMachine } from '../../apis/cluster-api/machine.ts';
import type { Census } from './census.ts';
import { decideMachine } from './decide-machine.ts';
import { decideSettlement } from './decide-settlement.ts';

const machines = (prefix: string, count: number): CoreMachine[] =>
  Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Machine',
    metadata: { name: `${prefix}${index}`, uid: `${prefix}${index}` },
  }));

interface Counts {
  readonly replicas: number;
  readonly claimed: number;
  readonly free: number;
  readonly marked: number;
  readonly waiting: number;
  readonly min?: number;
  readonly max?: number;
  readonly surplus?: number;
}

function census({ replicas, claimed, free, marked, waiting, min = 0, max, surplus = 0 }: Counts): Census {
  return {
    ...{ replicas, min, surplus, paused: false, free: machines('free', free), marked: machines('marked', marked) },
    ...(max !== undefined && { max }),
    claimed: new Map(machines('claimed', claimed).map((machine) => [machine.metadata.name ?? '', machine])),
    coming: Math.max(0, replicas - claimed - free - marked),
    waiting: new Map(Array.from({ length: waiting }, (_, index) => [`waiting${index}`, `waiting${index}`])),
  };
}

const NOTHING = { isOverdue: () => false, comingIsOverdue: false };
const number = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });
const anyCounts = fc.record({
  replicas: number(8),
  claimed: number(4),
  free: number(3),
  marked: number(3),
  waiting: number(3),
  min: number(3),
  surplus: number(2),
});

describe('settling replicas', () => {
  it('never lowers them by more than are marked, whatever is there', () => {
    fc.assert(
      fc.property(anyCounts, (counts) => {
        const { replicas } = decideSettlement(census(counts), NOTHING);
        const present = counts.claimed + counts.free + counts.marked;
        // What the MachineSet deletes if it follows at once, with all that were coming.
        const deleted = Math.max(0, Math.max(present, counts.replicas) - replicas);
        if (replicas < counts.replicas) expect(deleted).toBeLessThanOrEqual(counts.marked);
      }),
    );
  });

  it('never leaves them below what claims have and wait for, once nothing is marked', () => {
    fc.assert(
      fc.property(anyCounts, (counts) => {
        const { replicas, mark } = decideSettlement(census({ ...counts, marked: 0 }), NOTHING);
        if (mark.length === 0)
          expect(replicas).toBeGreaterThanOrEqual(counts.claimed + Math.max(0, counts.waiting - counts.free));
      }),
    );
  });

  it('lowers them for a machine that is marked, and waits while claims wait for new ones', () => {
    expect(
      decideSettlement(census({ replicas: 3, claimed: 2, free: 0, marked: 1, waiting: 0 }), NOTHING).replicas,
    ).toBe(2);
    expect(
      decideSettlement(census({ replicas: 3, claimed: 2, free: 0, marked: 1, waiting: 1 }), NOTHING).replicas,
    ).toBe(4);
    expect(
      decideSettlement(census({ replicas: 3, claimed: 2, free: 0, marked: 1, waiting: 1, max: 3 }), NOTHING).replicas,
    ).toBe(2);
  });

  it('marks unclaimed machines that are overdue or no longer wanted, and keeps the minimum', () => {
    const overdue = { isOverdue: () => true, comingIsOverdue: false };
    expect(
      decideSettlement(census({ replicas: 3, claimed: 1, free: 2, marked: 0, waiting: 0 }), overdue).mark,
    ).toHaveLength(2);
    expect(
      decideSettlement(census({ replicas: 3, claimed: 1, free: 2, marked: 0, waiting: 0, min: 2 }), overdue).mark,
    ).toHaveLength(1);
    expect(
      decideSettlement(census({ replicas: 3, claimed: 1, free: 2, marked: 0, waiting: 0, surplus: 1 }), NOTHING).mark,
    ).toHaveLength(1);
    expect(
      decideSettlement(census({ replicas: 3, claimed: 1, free: 2, marked: 0, waiting: 2, surplus: 1 }), overdue).mark,
    ).toEqual([]);
  });
});

describe('a machine for a claim', () => {
  it('is an unclaimed one, then one that is coming, then one more replica', () => {
    expect(decideMachine(census({ replicas: 2, claimed: 1, free: 1, marked: 0, waiting: 0 }), 'new')).toMatchObject({
      kind: 'adopt',
    });
    expect(decideMachine(census({ replicas: 2, claimed: 1, free: 0, marked: 0, waiting: 0 }), 'new')).toMatchObject({
      kind: 'join',
      replicas: 2,
    });
    expect(decideMachine(census({ replicas: 2, claimed: 1, free: 0, marked: 0, waiting: 1 }), 'new')).toMatchObject({
      kind: 'join',
      replicas: 3,
    });
    expect(decideMachine(census({ replicas: 2, claimed: 1, free: 0, marked: 0, waiting: 1 }), 'waiting0')).toEqual({
      kind: 'wait',
    });
    expect(decideMachine(census({ replicas: 2, claimed: 2, free: 0, marked: 0, waiting: 0, max: 2 }), 'new')).toEqual({
      kind: 'full',
      problem: 'its maximum size is 2',
    });
  });
});
