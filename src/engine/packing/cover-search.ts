/** Searches for a cheap cover by covering several times, each time with values learnt from the previous try. */
import { type Cover, greedyCover, initialValues, reweigh } from './greedy-cover.ts';
import type { PackProblem } from './pack-problem.ts';
import { PatternMaker } from './pattern.ts';
import type { Purse } from './purse.ts';
import type { Slices, Work } from './work.ts';

/** The cheapest cover of `tries` tries. */
export function* searchCover(pack: PackProblem, purse: Purse, tries: number, work: Work): Slices<Cover> {
  const maker = new PatternMaker(pack);
  let values = initialValues(pack);
  let best: Cover | undefined;
  for (let attempt = 0; attempt < Math.max(1, tries); attempt++) {
    const demand = Int32Array.from(pack.rows, (row) => row.demand);
    const cover = yield* greedyCover(pack, maker, values, demand, purse.clone(), work);
    if (best === undefined || cover.left < best.left || (cover.left === best.left && cover.cost < best.cost))
      best = cover;
    const learnt = reweigh(pack, values, cover);
    values = values.map((value, row) => (value + (learnt[row] as number)) / 2);
  }
  return best as Cover;
}
