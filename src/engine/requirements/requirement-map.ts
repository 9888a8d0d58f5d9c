/** Requirements by label key, each key's requirements intersected into one set. */
import type { Requirement } from '../problem.ts';
import { ValueSet } from './value-set.ts';

const ANY = new ValueSet({ complement: true, values: [] });

/** The requirements of a pool, instance type or offering, one set of values for each key. */
export class RequirementMap {
  readonly #sets = new Map<string, ValueSet>();

  constructor(requirements: Iterable<Requirement> = [], labels: Readonly<Record<string, string>> = {}) {
    for (const requirement of requirements) this.add(requirement.key, ValueSet.of(requirement));
    for (const [key, value] of Object.entries(labels)) {
      this.add(key, new ValueSet({ complement: false, values: [value] }));
    }
  }

  /** Narrows a key. */
  add(key: string, set: ValueSet): void {
    const known = this.#sets.get(key);
    this.#sets.set(key, known === undefined ? set : known.intersect(set));
  }

  has(key: string): boolean {
    return this.#sets.has(key);
  }

  /** The values a key may have; an absent key may have any. */
  get(key: string): ValueSet {
    return this.#sets.get(key) ?? ANY;
  }

  keys(): Iterable<string> {
    return this.#sets.keys();
  }

  entries(): Iterable<[string, ValueSet]> {
    return this.#sets.entries();
  }

  /** Whether every key in both leaves a value. Two sides that both allow absence agree on absence. */
  intersects(other: RequirementMap): boolean {
    for (const [key, set] of other.#sets) {
      const own = this.#sets.get(key);
      if (own === undefined || own.intersects(set)) continue;
      if (!(own.allowsAbsence && set.allowsAbsence)) return false;
    }
    return true;
  }

  /**
   * Whether something with these requirements can satisfy the others. A key that is not defined here fails, unless it may
   * be undefined (`mayBeUndefined`) or the other side allows its absence.
   */
  compatible(other: RequirementMap, mayBeUndefined: (key: string) => boolean = () => false): boolean {
    for (const [key, set] of other.#sets) {
      if (!this.#sets.has(key) && !mayBeUndefined(key) && !set.allowsAbsence) return false;
    }
    return this.intersects(other);
  }
}
