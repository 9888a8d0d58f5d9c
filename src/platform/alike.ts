/**
 * Returns one shared object for equal values, to save memory. Values that are not used for a long time are forgotten; an equal
 * value that comes later is then kept a second time, which costs only memory.
 */
export class Alike {
  readonly #limit: number;
  #recent = new Map<string, unknown>();
  #older = new Map<string, unknown>();

  /** Remembers at least this many different values, and at most twice as many. */
  constructor(limit = 4096) {
    this.#limit = limit;
  }

  /** The first value seen with the same content and key order. Values must be JSON and never change. */
  of<T>(value: T): T {
    const key = JSON.stringify(value);
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent as T;
    const known = (this.#older.get(key) as T | undefined) ?? value;
    if (this.#recent.size >= this.#limit) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, known);
    return known;
  }
}
