import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileModel } from '../compile/model.ts';
import type { Problem } from '../problem.ts';
import { aPod, aPool, aProblem, aType, GIB, onDemand } from '../testkit/builders.ts';
import { columnSearch } from './column-search.ts';
import { searchCover } from './cover-search.ts';
import type { Cover } from './greedy-cover.ts';
import { Market } from './market.ts';
import { buildPackProblem, type PackProblem } from './pack-problem.ts';
import { Purse } from './purse.ts';
import { finish, Work } from './work.ts';

function packOf(problem: Problem): { pack: PackProblem; purse: Purse } {
  const model = compileModel(problem, { preferences: false, preferenceSlack: 0 });
  const purse = new Purse(model);
  const parts = model.classes.map((podClass) => ({
    podClass,
    filter: podClass.attempts[0]!.options,
    cell: -1,
    count: podClass.pods.length,
  }));
  return { pack: buildPackProblem(model, new Market(model, purse), parts, { ladder: 20 }), purse };
}

const steps = (maxSteps: number): Work =>
  new Work({ maxSteps, deadlineMs: Number.POSITIVE_INFINITY, elapsedMs: undefined });

/** How many pods of each row a cover holds. */
function held(pack: PackProblem, cover: Cover): number[] {
  const counts = pack.rows.map(() => 0);
  cover.patterns.forEach(({ rows, counts: each }, index) => {
    rows.forEach((row, at) => {
      counts[row]! += each[at]! * cover.times[index]!;
    });
  });
  return counts;
}

const shapes = fc.array(
  fc.record({
    cpu: fc.integer({ min: 100, max: 3900 }),
    gib: fc.integer({ min: 1, max: 8 }),
    count: fc.integer({ min: 1, max: 40 }),
  }),
  {
    minLength: 1,
    maxLength: 8,
  },
);

describe('a cover', () => {
  it('holds every pod once, each machine within its capacity, and the column search never makes it dearer', () => {
    fc.assert(
      fc.property(shapes, (drawn) => {
        const pods = drawn.map(({ cpu, gib, count }, index) =>
          aPod({ name: `p${index}`, count, requests: { cpu, memory: gib * GIB } }),
        );
        const large = aType({
          name: 'large',
          capacity: { cpu: 16000, memory: 64 * GIB, pods: 30 },
          offerings: onDemand(4.5, 'a'),
        });
        const { pack, purse } = packOf(aProblem({ pods, instanceTypes: [aType(), large] }));
        const greedy = finish(searchCover(pack, purse, 2, steps(1e6)));
        const better = finish(columnSearch(pack, purse, greedy, steps(30_000))).best;
        for (const cover of [greedy, better]) {
          expect(held(pack, cover)).toEqual(pack.rows.map(({ demand }) => demand));
          for (const { candidate, rows, counts } of cover.patterns) {
            const { rows: all, share } = pack.candidates[candidate]!;
            for (let column = 0; column < pack.dimensions; column++) {
              const used = [...rows].reduce(
                (sum, row, at) => sum + counts[at]! * share[all.indexOf(row) * pack.dimensions + column]!,
                0,
              );
              expect(used).toBeLessThanOrEqual(1 + 1e-9);
            }
          }
        }
        expect(better.cost).toBeLessThanOrEqual(greedy.cost + 1e-9);
      }),
      { numRuns: 60 },
    );
  });

  it('never buys more than limits and slots allow', () => {
    const offerings = [
      { zone: 'a', capacityType: 'reserved' as const, price: 0.001, reservationId: 'r', slots: 2 },
      ...onDemand(1, 'a'),
    ];
    const { pack, purse } = packOf(
      aProblem({
        pods: [aPod({ count: 40 })],
        instanceTypes: [aType({ offerings })],
        pools: [aPool({ limits: { nodes: 5 } })],
      }),
    );
    const cover = finish(searchCover(pack, purse, 1, steps(1e6)));
    expect([cover.times.reduce((sum, times) => sum + times, 0), cover.left]).toEqual([5, 20]);
    expect(cover.cost).toBeCloseTo(3.002, 9);
  });

  it('puts no two pods that exclude each other on one machine', () => {
    const podAntiAffinity = [{ topologyKey: 'kubernetes.io/hostname', selector: { matchLabels: { app: 'x' } } }];
    const { pack, purse } = packOf(aProblem({ pods: [aPod({ count: 7, labels: { app: 'x' }, podAntiAffinity })] }));
    const cover = finish(searchCover(pack, purse, 1, steps(1e6)));
    expect(cover.patterns.every(({ counts }) => counts[0] === 1)).toBe(true);
  });
});
