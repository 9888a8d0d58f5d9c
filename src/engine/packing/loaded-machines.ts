/** Machines with real pods: their options, their exact loads, and the pods without a place yet. */
import type { Cover } from './greedy-cover.ts';
import type { Candidate, FineRows, PackProblem } from './pack-problem.ts';
import type { Pattern } from './pattern.ts';

/** One machine. */
export interface LoadedMachine {
  readonly candidate: number;
  /** The total requests of its pods. */
  readonly load: Float64Array;
  /** The row of each of its pods. */
  readonly pods: number[];
}

/** The machines of a packing problem whose rows stand for nearly equal pods. */
export class LoadedMachines {
  readonly pack: PackProblem;
  readonly fine: FineRows;
  machines: LoadedMachine[] = [];
  /** Pods of each fine row without a place. */
  readonly left: Int32Array;
  /** By candidate: whether it can hold pods of a row of the packing problem. */
  readonly #holds: Uint8Array[];

  constructor(pack: PackProblem, fine: FineRows) {
    this.pack = pack;
    this.fine = fine;
    this.left = Int32Array.from(fine.rows, ({ demand }) => demand);
    this.#holds = pack.candidates.map(({ rows }) => {
      const held = new Uint8Array(pack.rows.length);
      for (const row of rows) held[row] = 1;
      return held;
    });
  }

  /** Whether a candidate may hold pods of a fine row at all. */
  holds(candidate: number, row: number): boolean {
    return (this.#holds[candidate] as Uint8Array)[this.fine.rowOf[row] as number] === 1;
  }

  /** An empty machine, not added yet. */
  empty(candidate: number): LoadedMachine {
    return { candidate, load: new Float64Array(this.pack.dimensions), pods: [] };
  }

  capacityOf({ candidate }: LoadedMachine): Float64Array {
    return (this.pack.candidates[candidate] as Candidate).capacity;
  }

  /** Puts a pod on a machine, even if it does not fit. */
  put(machine: LoadedMachine, row: number): void {
    machine.pods.push(row);
    this.left[row] = (this.left[row] as number) - 1;
    this.#load(machine, row, 1);
  }

  /** Takes the pod at a position off a machine. */
  take(machine: LoadedMachine, position: number): void {
    const { pods } = machine;
    const row = pods[position] as number;
    pods[position] = pods[pods.length - 1] as number;
    pods.pop();
    this.left[row] = (this.left[row] as number) + 1;
    this.#load(machine, row, -1);
  }

  /** Counts the pods of a machine as unplaced; `claim` counts them as placed again. */
  release({ pods }: LoadedMachine): void {
    for (const row of pods) this.left[row] = (this.left[row] as number) + 1;
  }

  claim({ pods }: LoadedMachine): void {
    for (const row of pods) this.left[row] = (this.left[row] as number) - 1;
  }

  #load({ load }: LoadedMachine, row: number, by: number): void {
    const { requests } = this.fine;
    for (let column = 0, at = row * load.length; column < load.length; column++, at++) {
      load[column] = (load[column] as number) + by * (requests[at] as number);
    }
  }

  /** How full a machine would be with one more pod of a row, as the sum over its dimensions; -1 if it has no room. */
  fullnessWith(machine: LoadedMachine, row: number): number {
    const { load } = machine;
    const capacity = this.capacityOf(machine);
    const { requests } = this.fine;
    let full = 0;
    for (let column = 0, at = row * load.length; column < load.length; column++, at++) {
      const each = requests[at] as number;
      const used = (load[column] as number) + each;
      const has = capacity[column] as number;
      if (each > 0 && used > has) return -1;
      if (has > 0) full += used / has;
    }
    return full;
  }

  /** The contents of the machines, as patterns over the fine rows. */
  toCover(): Cover {
    const { candidates } = this.pack;
    const cover: Cover = { patterns: [], times: [], cost: 0, fills: 0, left: 0 };
    for (const { candidate, pods } of this.machines) {
      cover.patterns.push(patternOf(candidate, pods));
      cover.times.push(1);
      cover.cost += (candidates[candidate] as Candidate).price;
    }
    for (const count of this.left) cover.left += count;
    return cover;
  }
}

function patternOf(candidate: number, pods: readonly number[]): Pattern {
  const counts = new Map<number, number>();
  for (const row of pods) counts.set(row, (counts.get(row) ?? 0) + 1);
  return { candidate, rows: Int32Array.from(counts.keys()), counts: Int32Array.from(counts.values()) };
}
