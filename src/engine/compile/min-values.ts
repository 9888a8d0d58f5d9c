/**
 * A pool that wants at least n values of a key kept open (minValues) gets nodes that n different values could carry. So each of
 * its templates is treated as no larger than what n values can hold: its capacity is scaled down to the n-th best match.
 */
import type { Pool, Problem } from '../problem.ts';
import type { Catalogue, Template } from './catalogue.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, ZONE } from './well-known.ts';

/** Scales `alloc` of the templates of pools with minValues; 0 where the pool has too few values at all. */
export function applyMinValues(problem: Problem, catalogue: Catalogue): void {
  problem.pools.forEach((pool, index) => {
    const wanted = (pool.requirements ?? []).filter((requirement) => (requirement.minValues ?? 0) > 1);
    if (wanted.length > 0) scalePool(problem, catalogue, pool, index);
  });
}

function scalePool(problem: Problem, catalogue: Catalogue, pool: Pool, poolIndex: number): void {
  const { alloc, dimensions, templates } = catalogue;
  const members = templates.flatMap((template, index) => (template.pool === poolIndex ? [index] : []));
  const original = alloc.slice();
  const valuesOf = (index: number, key: string): readonly string[] => {
    const type = problem.instanceTypes[(templates[index] as Template).type];
    if (type === undefined) return [];
    if (key === INSTANCE_TYPE) return [type.name];
    if (key === ZONE) return type.offerings.map((offering) => offering.zone);
    if (key === CAPACITY_TYPE) return type.offerings.map((offering) => offering.capacityType);
    const value = type.labels?.[key] ?? pool.labels?.[key];
    return value === undefined ? [] : [value];
  };
  for (const member of members) {
    let scale = 1;
    for (const { key, minValues } of pool.requirements ?? []) {
      if (minValues === undefined || minValues <= 1) continue;
      const bestByValue = new Map<string, number>();
      for (const other of members) {
        const ratio = coverage(original, other * dimensions, member * dimensions, dimensions);
        for (const value of valuesOf(other, key)) {
          if (ratio > (bestByValue.get(value) ?? 0)) bestByValue.set(value, ratio);
        }
      }
      const ratios = [...bestByValue.values()].sort((a, b) => b - a);
      scale = Math.min(scale, ratios[minValues - 1] ?? 0);
    }
    for (let column = 0; column < dimensions; column++) {
      alloc[member * dimensions + column] = Math.floor((original[member * dimensions + column] as number) * scale);
    }
  }
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
