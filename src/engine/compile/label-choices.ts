/** The labels that nodes of a pool can have: the values fixed by pool and instance type, and the choices they leave open. */
import { SpindriftError } from '../../platform/errors.ts';
import type { InstanceType, Pool, Requirement } from '../problem.ts';
import { satisfies } from '../requirements/label-match.ts';
import { ValueSet } from '../requirements/value-set.ts';
import type { RelevantKeys } from './relevant-keys.ts';
import { CAPACITY_TYPE, HOSTNAME, INSTANCE_TYPE, NODE_POOL, ZONE } from './well-known.ts';

/** More combinations of open labels than this for one pool and type are rejected. */
const MAX_VARIANTS = 256;
const NO_KEYS: readonly number[] = [];
const NO_CONDITIONS: readonly Requirement[] = [];

/** The choices of one pool. */
export class LabelChoices {
  readonly #pool: Pool;
  readonly #typeKeys: ReadonlySet<string>;
  readonly #relevant: RelevantKeys;
  readonly #conditions = new Map<string, Requirement[]>();
  /** Keys in the pool's labels and requirements, except those decided by offerings. */
  readonly #poolKeys: readonly string[];

  /** `typeKeys` belong to types or offerings; a pool that requires one cannot give it to a type that lacks it. */
  constructor(pool: Pool, typeKeys: ReadonlySet<string>, relevant: RelevantKeys) {
    this.#pool = pool;
    this.#typeKeys = typeKeys;
    this.#relevant = relevant;
    for (const requirement of pool.requirements ?? []) {
      const known = this.#conditions.get(requirement.key);
      if (known === undefined) this.#conditions.set(requirement.key, [requirement]);
      else known.push(requirement);
    }
    this.#poolKeys = [...new Set([...this.#conditions.keys(), ...Object.keys(pool.labels ?? {})])].filter(
      (key) => key !== ZONE && key !== CAPACITY_TYPE,
    );
  }

  /** Whether the pool can use the type at all: they do not contradict each other in any label. */
  admits(type: InstanceType): boolean {
    for (const key of this.#poolKeys) if (!this.#leaves(key, type)) return false;
    for (const { key } of type.requirements ?? NO_CONDITIONS) if (!this.#leaves(key, type)) return false;
    return true;
  }

  /** Relevant keys, by number, whose value neither pool nor type fixes, so that it is chosen for each node. */
  openKeys(type: InstanceType): readonly number[] {
    if (this.#pool.requirements === undefined && type.requirements === undefined) return NO_KEYS;
    const { names } = this.#relevant.keys;
    const open: number[] = [];
    for (let key = 0; key < names.length; key++) if (this.#isOpen(names[key] as string, type)) open.push(key);
    return open.length === 0 ? NO_KEYS : open;
  }

  /** Whether an open key has an unlimited number of possible values. */
  isEndless(key: number, type: InstanceType): boolean {
    return this.#openSet(this.#relevant.keys.names[key] as string, type).complement;
  }

  /** The values of the relevant keys that a node of an admitted type can have, one row per combination of choices. */
  variants(type: InstanceType): (string | undefined)[][] {
    let rows: (string | undefined)[][] = [[]];
    for (const key of this.#relevant.keys.names) {
      // A new node's name is not known yet: it exists, and equals no value written in any requirement.
      const choices = key === HOSTNAME ? ['\u0000'] : this.#choices(key, type);
      if (rows.length * choices.length > MAX_VARIANTS) {
        throw new SpindriftError('PROBLEM_INVALID', {
          object: `pool ${this.#pool.name}`,
          field: `requirements[${key}]`,
          problem: `leaves ${rows.length * choices.length} combinations of labels open for instance type ${type.name}, at most ${MAX_VARIANTS} are tried`,
        });
      }
      if (choices.length <= 1) for (const row of rows) row.push(choices[0]);
      else rows = rows.flatMap((row) => choices.map((choice) => [...row, choice]));
    }
    return rows;
  }

  /** Whether a key can have any value, or be absent. */
  #leaves(key: string, type: InstanceType): boolean {
    if (key === ZONE || key === CAPACITY_TYPE) return true;
    const fixed = this.#fixed(key, type);
    if (fixed !== undefined && this.#agrees(key, fixed) && this.#allows(key, type, fixed)) return true;
    return offeringHas(type, key) || this.#choices(key, type).length > 0;
  }

  /** The values of a node label that a pod might ask for; none if the conditions exclude each other. */
  #choices(key: string, type: InstanceType): (string | undefined)[] {
    if (key === ZONE || key === CAPACITY_TYPE) return [undefined];
    const fixed = this.#fixed(key, type);
    if (fixed !== undefined) return this.#agrees(key, fixed) && this.#allows(key, type, fixed) ? [fixed] : [];
    const absence = this.#allows(key, type, undefined);
    if (!this.#isOpen(key, type)) return absence ? [undefined] : [];
    const open = this.#openSet(key, type);
    const mentioned = this.#relevant.mentioned.get(key) ?? new Set();
    const values = (open.complement ? [...mentioned] : [...open.values])
      .filter((value) => this.#allows(key, type, value))
      .sort();
    if (open.complement) values.push(...otherValue(open, mentioned));
    return absence ? [undefined, ...values] : values;
  }

  #ofPool(key: string): string | undefined {
    return key === NODE_POOL ? this.#pool.name : this.#pool.labels?.[key];
  }

  /** The value that the type or pool gives a key. */
  #fixed(key: string, type: InstanceType): string | undefined {
    return type.labels?.[key] ?? (key === INSTANCE_TYPE ? type.name : this.#ofPool(key));
  }

  #agrees(key: string, fixed: string): boolean {
    const ofPool = this.#ofPool(key);
    return ofPool === undefined || ofPool === fixed;
  }

  /** Whether the conditions of pool and type on a key allow a value. */
  #allows(key: string, type: InstanceType, value: string | undefined): boolean {
    for (const one of this.#conditions.get(key) ?? NO_CONDITIONS) if (!satisfies(one, value)) return false;
    for (const one of type.requirements ?? NO_CONDITIONS) if (one.key === key && !satisfies(one, value)) return false;
    return true;
  }

  /** The values that the conditions of pool and type together allow for a key. */
  #openSet(key: string, type: InstanceType): ValueSet {
    return [...(this.#conditions.get(key) ?? NO_CONDITIONS), ...(type.requirements ?? NO_CONDITIONS)]
      .filter((one) => one.key === key)
      .map((one) => ValueSet.of(one))
      .reduce((a, b) => a.intersect(b));
  }

  /** Whether conditions of pool or type, but no label, restrict a key. A pool cannot set keys that belong to types. */
  #isOpen(key: string, type: InstanceType): boolean {
    if (key === ZONE || key === CAPACITY_TYPE || key === INSTANCE_TYPE || key === NODE_POOL || key === HOSTNAME)
      return false;
    if (type.labels?.[key] !== undefined || this.#pool.labels?.[key] !== undefined) return false;
    if (type.requirements?.some((one) => one.key === key) === true) return true;
    return this.#conditions.has(key) && !this.#typeKeys.has(key);
  }
}

function offeringHas(type: InstanceType, key: string): boolean {
  return type.offerings.some((offering) => offering.labels?.[key] !== undefined);
}

/** A value that no pod asks for by name, if there is one: for requirements that the label only exists. */
function otherValue(open: ValueSet, mentioned: ReadonlySet<string>): string[] {
  const step = open.gte === undefined && open.lte !== undefined ? -1 : 1;
  let number = open.gte ?? open.lte ?? 1;
  while (open.values.has(String(number)) || mentioned.has(String(number))) number += step;
  return open.has(String(number)) ? [String(number)] : [];
}
