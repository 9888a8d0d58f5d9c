import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finish } from '../packing/work.ts';
import { leastCostSpread, type NodeClass } from './least-cost-spread.ts';

const ON_DEMAND = 'od';
const PLACES = ['a', 'b', 'c', 'd', ON_DEMAND];

interface Case {
  readonly classes: readonly NodeClass[];
  readonly wanted: number;
  readonly rooms: Readonly<Record<string, number>>;
}

const nodesIn = (classes: readonly NodeClass[]): number => classes.reduce((sum, { count }) => sum + count, 0);

/** Prices in eighths, which add up without rounding. */
const extras = fc.uniqueArray(fc.tuple(fc.constantFrom(...PLACES), fc.integer({ min: 0, max: 24 })), {
  selector: ([place]) => place,
  maxLength: 5,
  size: 'max',
});
const nodeClass: fc.Arbitrary<NodeClass> = fc
  .record({ start: fc.constantFrom('a', 'b'), extras, count: fc.integer({ min: 1, max: 2 }) })
  .map(({ start, extras: given, count }) => ({
    count,
    start,
    extra: new Map([...given.map(([place, price]): [string, number] => [place, price / 8]), [start, 0]]),
  }));
const cases: fc.Arbitrary<Case> = fc.record({
  classes: fc.array(nodeClass, { minLength: 1, maxLength: 6, size: 'max' }).filter((classes) => nodesIn(classes) <= 6),
  wanted: fc.integer({ min: -1, max: 5 }),
  rooms: fc.record(Object.fromEntries(PLACES.map((place) => [place, fc.integer({ min: 0, max: 3 })]))),
});

interface Judged {
  readonly broken: number;
  readonly extra: number;
}

function judge({ wanted, rooms }: Case, nodes: readonly { place: string; extra: number }[]): Judged {
  const load = Map.groupBy(nodes, ({ place }) => place);
  let broken = Math.max(0, wanted - (load.get(ON_DEMAND)?.length ?? 0));
  for (const [place, there] of load) if (place !== ON_DEMAND) broken += Math.max(0, there.length - (rooms[place] ?? 0));
  return { broken, extra: nodes.reduce((sum, { extra }) => sum + extra, 0) };
}

/** The best of all assignments. */
function best(given: Case): Judged {
  const nodes = given.classes.flatMap(({ count, extra }) => Array.from({ length: count }, () => [...extra]));
  let found: Judged = { broken: Number.POSITIVE_INFINITY, extra: 0 };
  const choose = (index: number, chosen: { place: string; extra: number }[]): void => {
    const options = nodes[index];
    if (options === undefined) {
      const judged = judge(given, chosen);
      if (judged.broken < found.broken || (judged.broken === found.broken && judged.extra < found.extra))
        found = judged;
      return;
    }
    for (const [place, extra] of options) choose(index + 1, [...chosen, { place, extra }]);
  };
  choose(0, []);
  return found;
}

const spread = ({ classes, wanted, rooms }: Case) =>
  finish(leastCostSpread(classes, { onDemand: ON_DEMAND, wanted, room: (place) => rooms[place] ?? 0 }));

describe('the spread of least cost', () => {
  it('breaks no more rules than the best of all spreads, and costs no more than the cheapest of those', () => {
    fc.assert(
      fc.property(cases, (given) => {
        const nodes = spread(given).flatMap((at, index) =>
          [...at].flatMap(([place, count]) => {
            const extra = given.classes[index]?.extra.get(place);
            if (extra === undefined && count > 0) throw new Error(`class ${index} cannot be at ${place}`);
            return Array.from({ length: count }, () => ({ place, extra: extra ?? 0 }));
          }),
        );
        expect(nodes).toHaveLength(nodesIn(given.classes));
        expect(judge(given, nodes)).toEqual(best(given));
      }),
      { numRuns: 200 },
    );
  });

  it('leaves every node where it is when no rule is broken', () => {
    fc.assert(
      fc.property(fc.array(nodeClass, { minLength: 1, maxLength: 20, size: 'max' }), (classes) => {
        const rooms = Object.fromEntries(PLACES.map((place) => [place, 1000]));
        expect(spread({ classes, wanted: 0, rooms })).toEqual(
          classes.map(({ start, count }) => new Map([[start, count]])),
        );
      }),
    );
  });
});
