/**
 * Applies minValues: a node of a pool that wants n values of a key must be launchable with n different values. So each
 * option counts as no larger than what n values can hold: its capacity is reduced to the n-th best match among the options
 * that the node's pods admit. Such a node only holds pods with the same filter.
 */
import type { Pool, Problem } from '../problem.ts';
import { type Bitset, hasBit } from './bitset.ts';
import type { Catalogue, Template } from './catalogue.ts';
import { typeLabel } from './type-label.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ZONE } from './well-known.ts';

/** Capacities under minValues. */
export class MinValues {
  readonly #problem: Problem;
  readonly #catalogue: Catalogue;
  readonly #optionCell: Int32Array;
  readonly #wanted: (readonly { key: string; count: number }[])[];
  readonly #countFilters: () => readonly Bitset[];
  readonly #memo = new Map<string, Float64Array>();
  /** Whether any pool has minValues. */
  readonly any: boolean;

  constructor(problem: Problem, catalogue: Catalogue, optionCell: Int32Array, countFilters: () => readonly Bitset[]) {
    this.#problem = problem;
    this.#catalogue = catalogue;
    this.#optionCell = optionCell;
    this.#countFilters = countFilters;
    this.#wanted = problem.pools.map((pool) =>
      (pool.requirements ?? []).flatMap(({ key, minValues }) =>
        minValues === undefined ? [] : [{ key, count: minValues }],
      ),
    );
    this.any = this.#wanted.some((wanted) => wanted.length > 0);
  }

  /** Whether the option's pool has minValues. */
  concern(option: number): boolean {
    return this.any && (this.#wanted[this.#template(option).pool] as readonly unknown[]).length > 0;
  }

  /** The capacity of a node of the option for pods with this filter. */
  capacity(option: number, filter: number, admitted: Bitset): Float64Array {
    const { alloc, dimensions, optionTemplate } = this.#catalogue;
    const row = (optionTemplate[option] as number) * dimensions;
    const full = alloc.subarray(row, row + dimensions);
    if (!this.concern(option)) return full;
    const key = `${option}|${filter}`;
    let known = this.#memo.get(key);
    if (known === undefined) {
      const scale = this.#scale(option, admitted);
      known = full.map((amount) => Math.floor(amount * scale));
      this.#memo.set(key, known);
    }
    return known;
  }

  #template(option: number): Template {
    return this.#catalogue.templates[this.#catalogue.optionTemplate[option] as number] as Template;
  }

  #scale(option: number, admitted: Bitset): number {
    const { optionCount, optionReservation, alloc, dimensions, optionTemplate } = this.#catalogue;
    const own = this.#template(option);
    const { pool } = own;
    const held = (optionTemplate[option] as number) * dimensions;
    let scale = 1;
    for (const { key, count } of this.#wanted[pool] as readonly { key: string; count: number }[]) {
      const bestByValue = new Map<string, number>();
      for (let other = 0; other < optionCount; other++) {
        if (!hasBit(admitted, other) || (optionReservation[other] as number) >= 0) continue;
        const template = this.#template(other);
        if (template.pool !== pool || this.#optionCell[other] !== this.#optionCell[option]) continue;
        if (!agree(template, own)) continue;
        if (this.#countFilters().some((set) => hasBit(set, other) !== hasBit(set, option))) continue;
        const value = this.#value(other, key, this.#problem.pools[pool] as Pool);
        const ratio = coverage(alloc, (optionTemplate[other] as number) * dimensions, held, dimensions);
        if (value !== undefined && ratio > (bestByValue.get(value) ?? 0)) bestByValue.set(value, ratio);
      }
      const ratios = [...bestByValue.values()].sort((a, b) => b - a);
      scale = Math.min(scale, ratios[count - 1] ?? 0);
    }
    return scale;
  }

  #value(option: number, key: string, pool: Pool): string | undefined {
    const type = this.#problem.instanceTypes[this.#template(option).type];
    const offering = this.#catalogue.optionOffering[option];
    if (key === INSTANCE_TYPE) return typeLabel(type);
    if (key === ZONE) return offering?.zone;
    if (key === CAPACITY_TYPE) return offering?.capacityType;
    if (key === NODE_POOL) return pool.name;
    return offering?.labels?.[key] ?? type?.labels?.[key] ?? pool.labels?.[key];
  }
}

/** Whether two templates of a pool have the same labels for all open keys, so that one can replace the other. */
export function agree(a: Template, b: Template): boolean {
  if (a.openKeys.length === 0 && b.openKeys.length === 0) return true;
  const same = (key: number): boolean => a.labels[key] === b.labels[key];
  return a.openKeys.every(same) && b.openKeys.every(same);
}

/** The share of one row of the table that another row can hold. */
function coverage(alloc: Float64Array, holder: number, held: number, dimensions: number): number {
  let ratio = 1;
  for (let column = 0; column < dimensions; column++) {
    const wanted = alloc[held + column] as number;
    if (wanted > 0) ratio = Math.min(ratio, (alloc[holder + column] as number) / wanted);
  }
  return Math.max(ratio, 0);
}
