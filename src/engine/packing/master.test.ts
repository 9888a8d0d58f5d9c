import fc from 'fast-check';
import highsLoader from 'highs';
import { describe, expect, it } from 'vitest';
import { type Column, Master } from './master.ts';

// The package's types do not match how Node imports it.
const load = highsLoader as unknown as () => Promise<{ solve(model: string): { ObjectiveValue: number } }>;
const highs = await load();

const column = fc.record({
  counts: fc.array(fc.nat({ max: 4 }), { minLength: 3, maxLength: 3 }),
  cost: fc.integer({ min: 1, max: 50 }),
});

/** The optimum of the same programme, from an independent solver. */
function optimum(demand: readonly number[], columns: readonly { column: Column; cost: number }[]): number {
  const terms = (of: (index: number) => number): string =>
    columns.map((_, index) => `${of(index) >= 0 ? '+' : ''}${of(index)} x${index}`).join(' ');
  const amount = (row: number) => (index: number) => {
    const { rows, counts } = columns[index]!.column;
    return Array.from(rows).reduce<number>((sum, held, at) => sum + (held === row ? counts[at]! : 0), 0);
  };
  const rows = demand.map((wanted, row) => ` r${row}: ${terms(amount(row))} >= ${wanted}`);
  const model = `Minimize\n obj: ${terms((index) => columns[index]!.cost)}\nSubject To\n${rows.join('\n')}\nEnd`;
  return highs.solve(model).ObjectiveValue;
}

describe('the programme over patterns', () => {
  it('finds the lowest price at which fractions of patterns cover the demand', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 3, maxLength: 3 }),
        fc.array(column, { maxLength: 8 }),
        (demand, drawn) => {
          const singles = demand.map((_, row) => ({ pattern: { rows: [row], counts: [1] }, cost: 20 }));
          const master = new Master<Column>(demand, singles);
          const more = drawn.map(({ counts, cost }) => {
            const rows = counts.flatMap((count, row) => (count > 0 ? [row] : []));
            return { column: { rows, counts: rows.map((row) => counts[row]!) }, cost };
          });
          for (const one of more) master.add(one.column, one.cost);
          expect(master.improve(1000)).toBeLessThan(1000);
          const all = [...singles.map(({ pattern, cost }) => ({ column: pattern, cost })), ...more];
          expect(master.cost).toBeCloseTo(optimum(demand, all), 3);
          const worth = demand.reduce((sum, wanted, row) => sum + wanted * master.values[row]!, 0);
          expect(worth).toBeCloseTo(master.cost, 3);
        },
      ),
      { numRuns: 60 },
    );
  });
});
