/**
 * Searches for the cheapest cover by column generation. The linear programme over known patterns gives the value of a pod
 * of each row, the best fillings at those values become new patterns, and so on. Along the way the fractional plan is
 * rounded to whole nodes, and single nodes are torn down and rebuilt, while time remains. The sequence of tries does not
 * depend on the deadline, so more time never gives a worse cover.
 */
import { type Cover, greedyCover, initialValues } from './greedy-cover.ts';
import { Master } from './master.ts';
import type { Candidate, PackProblem } from './pack-problem.ts';
import { type Pattern, PatternMaker } from './pattern.ts';
import type { Purse } from './purse.ts';
import type { Slices, Work } from './work.ts';

/** Columns taken from one round of pricing. */
const COLUMNS_PER_ROUND = 40;
const MAX_ROUNDS = 400;

/** The result of the search. */
export interface Found {
  readonly best: Cover;
  /** The value of a pod of each row. */
  readonly values: Float64Array;
}

/** The share of the time that the search may use. */
const SEARCHED = 0.8;
/** The same if the cover is only a start, because its rows stand for pods that are not quite equal. */
const BEGUN = 0.4;

/** Improves on a cover. */
export function* columnSearch(pack: PackProblem, purse: Purse, start: Cover, work: Work): Slices<Found> {
  const search = new ColumnSearch(pack, purse, start, work);
  yield* search.run();
  return { best: search.best, values: search.bestValues };
}

class ColumnSearch {
  best: Cover;
  bestValues: Float64Array;
  readonly #pack: PackProblem;
  readonly #purse: Purse;
  readonly #work: Work;
  readonly #maker: PatternMaker;
  readonly #demand: Int32Array;
  readonly #until: number;
  #bound = 0;
  #random = 0x2545f491;

  constructor(pack: PackProblem, purse: Purse, start: Cover, work: Work) {
    this.#pack = pack;
    this.#purse = purse;
    this.#work = work;
    this.#maker = new PatternMaker(pack);
    this.#demand = Int32Array.from(pack.rows, (row) => row.demand);
    this.#until = pack.fine === undefined ? SEARCHED : BEGUN;
    this.best = start;
    this.bestValues = initialValues(pack);
  }

  *run(): Slices<void> {
    const master = this.#start();
    if (master === undefined) return;
    let checkpoint = 4;
    for (let round = 1; round <= MAX_ROUNDS && !this.#work.over(this.#until); round++) {
      yield* this.#settle(master);
      const converged = yield* this.#price(master);
      if (converged || round === checkpoint) {
        yield* this.#round(master);
        checkpoint *= 2;
      }
      if (converged) break;
    }
    if (this.#pack.fine === undefined) yield* this.#rebuild();
  }

  /** One pattern for each single row, and those of the first cover. */
  #start(): Master<Pattern> | undefined {
    const { rows, candidates } = this.#pack;
    const cheapest = new Float64Array(rows.length).fill(Number.POSITIVE_INFINITY);
    const single: ({ pattern: Pattern; cost: number } | undefined)[] = rows.map(() => undefined);
    candidates.forEach((candidate, index) => {
      candidate.rows.forEach((row, position) => {
        const count = Math.max(1, Math.min(candidate.fit[position] as number, this.#demand[row] as number));
        const each = candidate.price / count;
        if (each >= (cheapest[row] as number)) return;
        cheapest[row] = each;
        const pattern = { candidate: index, rows: Int32Array.of(row), counts: Int32Array.of(count) };
        single[row] = { pattern, cost: candidate.price };
      });
    });
    if (single.some((one) => one === undefined)) return undefined;
    const master = new Master(this.#demand, single as { pattern: Pattern; cost: number }[]);
    for (const pattern of this.best.patterns) {
      master.add(pattern, (candidates[pattern.candidate] as Candidate).price);
    }
    return master;
  }

  *#settle(master: Master<Pattern>): Slices<void> {
    const { rows } = this.#pack;
    const cost = rows.length * rows.length * 0.02 + master.patterns.length * 0.1;
    while (master.improve(16) === 16) {
      if (this.#work.spend(16 * cost)) yield;
      if (this.#work.over(this.#until)) return;
    }
  }

  /** Adds the fillings that are worth more than their price; true if there are none. */
  *#price(master: Master<Pattern>): Slices<boolean> {
    const { candidates, rows } = this.#pack;
    const values = master.values.map((value) => Math.max(value, 0));
    const found: { gain: number; pattern: Pattern; cost: number }[] = [];
    let worst = 1;
    for (let index = 0; index < candidates.length; index++) {
      const { price } = candidates[index] as Candidate;
      this.#maker.fill(index, values, this.#demand, true);
      worst = Math.max(worst, this.#maker.bound / Math.max(price, 1e-9));
      if (this.#maker.value > price * (1 + 1e-6) + 1e-9) {
        found.push({ gain: this.#maker.value / price, pattern: this.#maker.get(index), cost: price });
      }
      if (this.#work.spend(rows.length)) yield;
    }
    let total = 0;
    for (let row = 0; row < rows.length; row++) total += (values[row] as number) * (this.#demand[row] as number);
    if (total / worst > this.#bound) {
      this.#bound = total / worst;
      this.bestValues = values;
    }
    found.sort((a, b) => b.gain - a.gain || a.pattern.candidate - b.pattern.candidate);
    for (const { pattern, cost } of found.slice(0, COLUMNS_PER_ROUND)) master.add(pattern, cost);
    return found.length === 0 || master.cost <= this.#bound * (1 + 1e-4);
  }

  /** Rounds the fractional plan in several ways and completes each with a greedy cover. */
  *#round(master: Master<Pattern>): Slices<void> {
    const plan = master.plan().sort((a, b) => fraction(b.amount) - fraction(a.amount));
    const values = master.values.map((value) => Math.max(value, 1e-12));
    for (const threshold of [1, 0.9, 0.75, 0.6, 0.45, 0.3]) {
      const demand = this.#demand.slice();
      const purse = this.#purse.clone();
      const cover: Cover = { patterns: [], times: [], cost: 0, fills: 0, left: 0 };
      for (const { pattern, amount } of plan) {
        const times = Math.floor(amount + 1e-6);
        this.#use(cover, pattern, times, demand, purse);
      }
      for (const { pattern, amount } of plan) {
        if (fraction(amount) >= threshold) this.#use(cover, pattern, 1, demand, purse);
      }
      const rest = yield* greedyCover(this.#pack, this.#maker, values, demand, purse, this.#work);
      this.#keep(join(cover, rest));
      if (this.#work.over(this.#until)) return;
    }
  }

  /** Uses a pattern up to `wanted` times, as far as demand and purse allow. */
  #use(cover: Cover, pattern: Pattern, wanted: number, demand: Int32Array, purse: Purse): void {
    const { option, price } = this.#pack.candidates[pattern.candidate] as Candidate;
    let times = Math.min(wanted, purse.affords(option));
    for (let i = 0; i < pattern.rows.length; i++) {
      times = Math.min(
        times,
        Math.floor((demand[pattern.rows[i] as number] as number) / (pattern.counts[i] as number)),
      );
    }
    if (times <= 0) return;
    purse.take(option, times);
    cover.patterns.push(pattern);
    cover.times.push(times);
    cover.cost += times * price;
    for (let i = 0; i < pattern.rows.length; i++) {
      const row = pattern.rows[i] as number;
      demand[row] = (demand[row] as number) - times * (pattern.counts[i] as number);
    }
  }

  #keep(cover: Cover): boolean {
    if (cover.left > this.best.left) return false;
    if (cover.left === this.best.left && cover.cost >= this.best.cost - 1e-9) return false;
    this.best = cover;
    return true;
  }

  /** Tears down a few nodes of the best cover, preferably poor ones, and covers their pods again with slightly different values. */
  *#rebuild(): Slices<void> {
    const { candidates } = this.#pack;
    let failures = 0;
    while (failures < 400 && !this.#work.over(this.#until) && this.best.cost > this.#bound * (1 + 1e-4)) {
      const demand = new Int32Array(this.#demand.length);
      const purse = this.#purse.clone();
      const kept: Cover = { patterns: [], times: [], cost: 0, fills: 0, left: 0 };
      const total = this.best.times.reduce((sum, times) => sum + times, 0);
      const share = Math.min(1, (4 + (failures % 13)) / Math.max(total, 1));
      this.best.patterns.forEach((pattern, index) => {
        const { price, option } = candidates[pattern.candidate] as Candidate;
        const times = this.best.times[index] as number;
        let worth = 0;
        for (let i = 0; i < pattern.rows.length; i++) {
          worth += (this.bestValues[pattern.rows[i] as number] as number) * (pattern.counts[i] as number);
        }
        const poor = Math.min(8, 1 + 40 * Math.max(0, 1 - worth / price));
        let gone = 0;
        const expected = times * share * poor;
        gone = Math.min(times, Math.floor(expected) + (this.#chance() < expected - Math.floor(expected) ? 1 : 0));
        for (let i = 0; i < pattern.rows.length; i++) {
          const row = pattern.rows[i] as number;
          demand[row] = (demand[row] as number) + gone * (pattern.counts[i] as number);
        }
        if (times === gone) return;
        kept.patterns.push(pattern);
        kept.times.push(times - gone);
        kept.cost += (times - gone) * price;
        purse.take(option, times - gone);
      });
      const values = this.bestValues.map((value) => Math.max(value, 1e-12) * (0.94 + 0.12 * this.#chance()));
      const rest = yield* greedyCover(this.#pack, this.#maker, values, demand, purse, this.#work);
      failures = this.#keep(join(kept, rest)) ? 0 : failures + 1;
    }
  }

  /** A number below 1 from a fixed sequence (xorshift), so that equal problems give equal plans. */
  #chance(): number {
    let x = this.#random;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#random = x;
    return (x >>> 0) / 4294967296;
  }
}

function fraction(amount: number): number {
  return amount + 1e-6 - Math.floor(amount + 1e-6);
}

function join(a: Cover, b: Cover): Cover {
  return {
    patterns: [...a.patterns, ...b.patterns],
    times: [...a.times, ...b.times],
    cost: a.cost + b.cost,
    fills: a.fills + b.fills,
    left: a.left + b.left,
  };
}
