/**
 * Covers the demand of all rows machine by machine: always with the filling that has the most value for its price, as
 * often as the demand allows. A filling only gets worse as demand shrinks, so an old score is an upper bound and only the
 * leader must be computed again.
 */
import type { Candidate, PackProblem, Row } from './pack-problem.ts';
import type { Pattern, PatternMaker } from './pattern.ts';
import type { Purse } from './purse.ts';
import type { Slices, Work } from './work.ts';

/** Patterns and how often each is used. */
export interface Cover {
  readonly patterns: Pattern[];
  readonly times: number[];
  cost: number;
  /** Fillings computed. */
  fills: number;
  /** Pods left uncovered because no option can be launched for them. */
  left: number;
}

/** Covers `demand` (which it uses up) greedily for given values of the rows. */
export function* greedyCover(
  pack: PackProblem,
  maker: PatternMaker,
  values: Float64Array,
  demand: Int32Array,
  purse: Purse,
  work: Work,
): Slices<Cover> {
  const { candidates } = pack;
  const cover: Cover = { patterns: [], times: [], cost: 0, fills: 0, left: 0 };
  const score = new Float64Array(candidates.length).fill(Number.POSITIVE_INFINITY);
  // Fillings of candidates for the current demand.
  const known: (Pattern | undefined)[] = candidates.map(() => undefined);
  let open = 0;
  for (let row = 0; row < demand.length; row++) open += demand[row] as number;
  while (open > 0) {
    if (work.spend(pack.rows.length + candidates.length)) yield;
    let best = -1;
    let bestScore = 0;
    for (let index = 0; index < score.length; index++) {
      if ((score[index] as number) > bestScore) {
        best = index;
        bestScore = score[index] as number;
      }
    }
    if (best < 0) break;
    const candidate = candidates[best] as Candidate;
    let times = purse.affords(candidate.option);
    if (times === 0) {
      score[best] = 0;
      continue;
    }
    let pattern = known[best];
    if (pattern === undefined) {
      maker.fill(best, values, demand);
      cover.fills++;
      pattern = maker.get(best);
      known[best] = pattern;
      score[best] = pattern.rows.length === 0 ? 0 : maker.value / Math.max(candidate.price, 1e-9);
      if (!leads(score, best) || pattern.rows.length === 0) continue;
    }
    const { rows, counts } = pattern;
    for (let i = 0; i < rows.length; i++) {
      times = Math.min(times, Math.floor((demand[rows[i] as number] as number) / (counts[i] as number)));
    }
    purse.take(candidate.option, times);
    cover.patterns.push(pattern);
    cover.times.push(times);
    cover.cost += times * candidate.price;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      const used = times * (counts[i] as number);
      demand[row] = (demand[row] as number) - used;
      open -= used;
    }
    known.fill(undefined);
  }
  cover.left = open;
  return cover;
}

function leads(score: Float64Array, best: number): boolean {
  const own = score[best] as number;
  for (let index = 0; index < score.length; index++) if ((score[index] as number) > own) return false;
  return true;
}

/** A first guess of the value of a pod of each row: its share of the machine on which that share is cheapest. */
export function initialValues(pack: PackProblem): Float64Array {
  const values = new Float64Array(pack.rows.length).fill(Number.POSITIVE_INFINITY);
  for (const { rows, share, price } of pack.candidates) {
    for (let i = 0; i < rows.length; i++) {
      let largest = 0;
      for (let d = 0; d < pack.dimensions; d++) largest = Math.max(largest, share[i * pack.dimensions + d] as number);
      const row = rows[i] as number;
      if (largest * price < (values[row] as number)) values[row] = largest * price;
    }
  }
  for (let row = 0; row < values.length; row++) if (values[row] === Number.POSITIVE_INFINITY) values[row] = 0;
  return values;
}

/** Values by what the rows actually cost in a cover: pods that ended up on poor machines get a higher value. */
export function reweigh(pack: PackProblem, values: Float64Array, cover: Cover): Float64Array {
  const paid = new Float64Array(values.length);
  cover.patterns.forEach(({ candidate, rows, counts }, index) => {
    let worth = 0;
    for (let i = 0; i < rows.length; i++) worth += (values[rows[i] as number] as number) * (counts[i] as number);
    const { price } = pack.candidates[candidate] as Candidate;
    const rate = worth > 0 ? (price / worth) * (cover.times[index] as number) : 0;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      paid[row] = (paid[row] as number) + rate * (counts[i] as number) * (values[row] as number);
    }
  });
  return paid.map((amount, row) => {
    const { demand } = pack.rows[row] as Row;
    return demand > 0 && amount > 0 ? amount / demand : (values[row] as number);
  });
}
