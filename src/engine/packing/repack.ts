/**
 * Makes a packing of real pods cheaper, a few machines at a time: tears down poor ones, puts as many of their pods as
 * possible into the room left on others, and adds new machines for the rest. The result is kept if it costs no more.
 */
import { greedyCover } from './greedy-cover.ts';
import type { LoadedMachine, LoadedMachines } from './loaded-machines.ts';
import type { Candidate, PackProblem, Row } from './pack-problem.ts';
import { PatternMaker } from './pattern.ts';
import type { Purse } from './purse.ts';
import { sizesOf } from './sizes.ts';
import type { Slices, Work } from './work.ts';

/** Ends after this many tries without gain. */
const MAX_FAILURES = 600;
/** At most this many pods are taken off at a time. */
const MOST_PODS = 256;

/** Improves the machines until `share` of the time is used up. `values` are the values of a pod of each row of the packing problem. */
export function* repack(
  machines: LoadedMachines,
  values: Float64Array,
  purse: Purse,
  work: Work,
  share: number,
): Slices<void> {
  const repacker = new Repacker(machines, values, purse, work);
  let failures = 0;
  while (failures < MAX_FAILURES && machines.machines.length > 1 && !work.over(share)) {
    failures = (yield* repacker.step()) ? 0 : failures + 1;
  }
}

class Repacker {
  readonly #all: LoadedMachines;
  readonly #purse: Purse;
  readonly #work: Work;
  /** The value of a pod of each fine row. */
  readonly #values: Float64Array;
  readonly #size: Float64Array;
  #random = 0x2545f491;

  constructor(all: LoadedMachines, values: Float64Array, purse: Purse, work: Work) {
    const { pack, fine } = all;
    this.#all = all;
    this.#purse = purse;
    this.#work = work;
    this.#size = sizesOf(fine.requests, pack.dimensions, fine.rows);
    const average = sizesOf(pack.rowRequests, pack.dimensions, pack.rows);
    this.#values = this.#size.map((size, row) => {
      const cluster = fine.rowOf[row] as number;
      return Math.max(((values[cluster] as number) * size) / (average[cluster] as number), 1e-12);
    });
  }

  /** One try; true if the machines cost less than before. */
  *step(): Slices<boolean> {
    const all = this.#all;
    const chosen = this.#choose();
    const staying = all.machines.filter((machine) => !chosen.includes(machine));
    const pods = chosen.flatMap((machine) => machine.pods);
    this.#giveBack(chosen);
    const filled = this.#fillGaps(pods, staying);
    const rest = pods.filter((_, at) => filled[at] === undefined);
    const bought = rest.length === 0 ? [] : yield* this.#buy(rest);
    if (this.#work.spend((staying.length * pods.length) / 20)) yield;
    const gain = this.#priceOf(chosen) - this.#priceOf(bought);
    const held = bought.reduce((sum, machine) => sum + machine.pods.length, 0);
    if (held === rest.length && gain > -1e-9) {
      all.machines = [...staying, ...bought];
      return gain > 1e-9;
    }
    this.#giveBack(bought);
    pods.forEach((row, at) => {
      const machine = filled[at];
      if (machine !== undefined) all.take(machine, machine.pods.lastIndexOf(row));
    });
    for (const machine of chosen) {
      this.#purse.take(this.#optionOf(machine), 1);
      all.claim(machine);
    }
    return false;
  }

  #giveBack(machines: readonly LoadedMachine[]): void {
    for (const machine of machines) {
      this.#purse.take(this.#optionOf(machine), -1);
      this.#all.release(machine);
    }
  }

  /** Poor machines of one place: the poorest of a few random ones. */
  #choose(): LoadedMachine[] {
    const first = this.#poorest(6, () => true) as LoadedMachine;
    const chosen = [first];
    let pods = first.pods.length;
    for (let more = 1 + Math.floor(this.#chance() * 3); more > 0; more--) {
      const next = this.#poorest(3, (machine) => !chosen.includes(machine) && this.#mayMix(first, machine));
      if (next === undefined || pods + next.pods.length > MOST_PODS) continue;
      chosen.push(next);
      pods += next.pods.length;
    }
    return chosen;
  }

  #poorest(draws: number, isWanted: (machine: LoadedMachine) => boolean): LoadedMachine | undefined {
    const { machines } = this.#all;
    let poorest: LoadedMachine | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (let draw = 0; draw < draws; draw++) {
      const machine = machines[Math.floor(this.#chance() * machines.length)] as LoadedMachine;
      if (!isWanted(machine)) continue;
      const rate = this.#rate(machine);
      if (rate >= least) continue;
      poorest = machine;
      least = rate;
    }
    return poorest;
  }

  /** The value a machine holds for its price. */
  #rate({ candidate, pods }: LoadedMachine): number {
    let sum = 0;
    for (const row of pods) sum += this.#values[row] as number;
    return sum / Math.max((this.#all.pack.candidates[candidate] as Candidate).price, 1e-9);
  }

  /** Whether pods of one machine could be on the other. */
  #mayMix(a: LoadedMachine, b: LoadedMachine): boolean {
    return this.#all.holds(a.candidate, b.pods[0] as number) || this.#all.holds(b.candidate, a.pods[0] as number);
  }

  #priceOf(machines: readonly LoadedMachine[]): number {
    const { candidates } = this.#all.pack;
    return machines.reduce((sum, { candidate }) => sum + (candidates[candidate] as Candidate).price, 0);
  }

  #optionOf({ candidate }: LoadedMachine): number {
    return (this.#all.pack.candidates[candidate] as Candidate).option;
  }

  /** Puts pods where they leave the least room, the largest first; returns the machine of each, by position. */
  #fillGaps(pods: number[], staying: readonly LoadedMachine[]): (LoadedMachine | undefined)[] {
    pods.sort((a, b) => (this.#size[b] as number) - (this.#size[a] as number) || a - b);
    return pods.map((row) => {
      let best: LoadedMachine | undefined;
      let fullest = -1;
      for (const machine of staying) {
        if (!this.#all.holds(machine.candidate, row)) continue;
        const full = this.#all.fullnessWith(machine, row);
        if (full <= fullest) continue;
        best = machine;
        fullest = full;
      }
      if (best !== undefined) this.#all.put(best, row);
      return best;
    });
  }

  /** Machines for some pods, by a greedy cover with slightly different values; pods for which no option is left are skipped. */
  *#buy(pods: readonly number[]): Slices<LoadedMachine[]> {
    const rows = [...new Set(pods)];
    const demand = new Int32Array(rows.length);
    const position = new Map(rows.map((row, at) => [row, at]));
    for (const row of pods) {
      const at = position.get(row) as number;
      demand[at] = (demand[at] as number) + 1;
    }
    const { pack, numbers } = this.#part(rows);
    const values = Float64Array.from(rows, (row) => (this.#values[row] as number) * (0.95 + 0.1 * this.#chance()));
    const cover = yield* greedyCover(pack, new PatternMaker(pack), values, demand, this.#purse, this.#work);
    const bought: LoadedMachine[] = [];
    cover.patterns.forEach(({ candidate, rows: held, counts }, index) => {
      for (let time = 0; time < (cover.times[index] as number); time++) {
        const machine = this.#all.empty(numbers[candidate] as number);
        held.forEach((at, i) => {
          for (let count = counts[i] as number; count > 0; count--) this.#all.put(machine, rows[at] as number);
        });
        bought.push(machine);
      }
    });
    return bought;
  }

  /** The packing problem of some fine rows, and the indices of its candidates in the whole one. */
  #part(rows: readonly number[]): { pack: PackProblem; numbers: readonly number[] } {
    const { pack, fine } = this.#all;
    const { dimensions } = pack;
    const numbers: number[] = [];
    const candidates: Candidate[] = [];
    pack.candidates.forEach((candidate, number) => {
      const part = partOf(candidate, rows, fine.requests, dimensions, (row) => this.#all.holds(number, row));
      if (part === undefined) return;
      numbers.push(number);
      candidates.push(part);
    });
    const fineRows = rows.map((row) => fine.rows[row] as Row);
    const none = { parts: [], rowOfPart: new Int32Array(0), rowRequests: new Float64Array(0) };
    return { pack: { dimensions, rows: fineRows, candidates, ...none }, numbers };
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

function partOf(
  candidate: Candidate,
  rows: readonly number[],
  requests: Float64Array,
  dimensions: number,
  holds: (row: number) => boolean,
): Candidate | undefined {
  const { capacity } = candidate;
  const held = new Int32Array(rows.length);
  const share = new Float64Array(rows.length * dimensions);
  const fit = new Float64Array(rows.length);
  let count = 0;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number;
    if (!holds(row)) continue;
    let most = Number.MAX_SAFE_INTEGER;
    for (let column = 0; column < dimensions; column++) {
      const each = requests[row * dimensions + column] as number;
      if (each === 0) continue;
      const has = capacity[column] as number;
      share[count * dimensions + column] = each / has;
      if (has / each < most) most = has / each;
    }
    held[count] = at;
    fit[count] = Math.floor(most);
    count++;
  }
  if (count === 0) return undefined;
  return {
    ...candidate,
    rows: held.subarray(0, count),
    share: share.subarray(0, count * dimensions),
    fit: fit.subarray(0, count),
  };
}
