/** Numbers sets of filters. Most pods of a node share one filter, and nodes with the same set share all results derived from it. */
import { Interner } from './compile/interner.ts';

/** The empty set. */
export const NO_FILTERS = 0;

/** Gives each distinct set a number. */
export class FilterSets {
  readonly #members: (readonly number[])[] = [[]];
  readonly #ids = new Interner();

  constructor() {
    this.#ids.id('');
  }

  /** The filters of a set, ascending. */
  members(set: number): readonly number[] {
    return this.#members[set] as readonly number[];
  }

  /** The set with one more filter. */
  with(set: number, filter: number): number {
    const members = this.members(set);
    if (members.includes(filter)) return set;
    const grown = [...members, filter].sort((a, b) => a - b);
    const id = this.#ids.id(grown.join());
    this.#members[id] ??= grown;
    return id;
  }
}
