/** Sets of filters, by number: the pods of a node mostly share one filter, and nodes with the same set share what follows from it. */
import { Interner } from './compile/interner.ts';

/** The set without filters. */
export const NO_FILTERS = 0;

/** Numbers sets as they are put together. */
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

  /** A set with one filter more. */
  with(set: number, filter: number): number {
    const members = this.members(set);
    if (members.includes(filter)) return set;
    const grown = [...members, filter].sort((a, b) => a - b);
    const id = this.#ids.id(grown.join());
    this.#members[id] ??= grown;
    return id;
  }
}
