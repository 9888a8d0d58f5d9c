/** Counts work, so that long solves can be split into slices and stopped at a deadline without reading a clock all the time. */

/** A long computation that can be interrupted at every `yield`. */
export type Slices<Result> = Generator<void, Result, void>;

/** Runs to the end without interruption. */
export function finish<Result>(slices: Slices<Result>): Result {
  for (;;) {
    const slice = slices.next();
    if (slice.done === true) return slice.value;
  }
}

/** Units of work between two interruptions; a unit is a few hundred nanoseconds at most. */
const SLICE = 4_000;

/** When to stop. */
export interface WorkLimits {
  readonly deadlineMs: number;
  readonly maxSteps: number;
  readonly elapsedMs: (() => number) | undefined;
}

/** For work that is only split into slices, and always finished. */
export const UNLIMITED: WorkLimits = {
  deadlineMs: Number.POSITIVE_INFINITY,
  maxSteps: Number.POSITIVE_INFINITY,
  elapsedMs: undefined,
};

/** The work of one solve. */
export class Work {
  steps = 0;
  #slice = 0;
  readonly #limits: WorkLimits;

  constructor(limits: WorkLimits) {
    this.#limits = limits;
  }

  /** Counts work done; true if it is time to yield. */
  spend(units: number): boolean {
    this.steps += units;
    this.#slice += units;
    if (this.#slice < SLICE) return false;
    this.#slice = 0;
    return true;
  }

  /** Milliseconds since the solve began; 0 without a clock. */
  elapsed(): number {
    return this.#limits.elapsedMs?.() ?? 0;
  }

  /** Whether work that takes `ms` milliseconds ends before the deadline. */
  hasTimeFor(ms: number): boolean {
    return this.elapsed() + ms <= this.#limits.deadlineMs;
  }

  /** Whether optional work should stop now. Phases that must leave time for others pass a `share` of the deadline. */
  over(share = 1): boolean {
    return this.steps >= this.#limits.maxSteps * share || this.elapsed() >= this.#limits.deadlineMs * share;
  }
}
