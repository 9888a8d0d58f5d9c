/**
 * Merges rows of nearly equal pods, so that few enough remain for planning. A cluster represents its pods by their average
 * requests: the total stays exactly the same, and `deal-out.ts` makes each machine fit.
 */
import type { Row } from './pack-problem.ts';

/** Pods that differ by less than this share count as equal. */
const ALIKE = 1e-6;

/** Merged rows. */
export interface RowClusters {
  readonly rows: Row[];
  /** The average and the largest requests of the pods of each cluster, `dimensions` numbers per cluster. */
  readonly requests: Float64Array;
  readonly largest: Float64Array;
  /** The cluster of each row. */
  readonly clusterOf: Int32Array;
}

interface Cluster {
  readonly members: Int32Array;
  /** The column in which its pods differ most, by the logarithm of their requests; where to split there, and what that gains. */
  readonly widest: number;
  readonly middle: number;
  readonly gain: number;
}

/** Merges rows into about `most` clusters; never rows that differ in their allowed places or in exclusive groups. */
export function clusterRows(
  rows: readonly Row[],
  requests: Float64Array,
  dimensions: number,
  most: number,
): RowClusters {
  const splitter = new Splitter(rows, requests, dimensions);
  const clusters = kindsOf(rows, requests, dimensions).map((members) => splitter.measure(members));
  while (clusters.length < most) {
    let best = 0;
    for (let at = 1; at < clusters.length; at++) {
      if ((clusters[at] as Cluster).gain > (clusters[best] as Cluster).gain) best = at;
    }
    const chosen = clusters[best] as Cluster;
    if (chosen.gain <= 0) break;
    const [low, high] = splitter.split(chosen);
    clusters[best] = splitter.measure(low);
    clusters.push(splitter.measure(high));
  }
  return describe(
    rows,
    requests,
    dimensions,
    clusters.map(({ members }) => members),
  );
}

/** Splits some clusters into one cluster per row. */
export function breakUp(
  clusters: RowClusters,
  rows: readonly Row[],
  requests: Float64Array,
  broken: (cluster: number) => boolean,
): RowClusters {
  const members: number[][] = clusters.rows.map(() => []);
  clusters.clusterOf.forEach((cluster, row) => {
    if (broken(cluster)) members.push([row]);
    else members[cluster]?.push(row);
  });
  const kept = members.filter(({ length }) => length > 0).map((list) => Int32Array.from(list));
  return describe(rows, requests, requests.length / rows.length, kept);
}

/** Rows with the same allowed places, the same exclusive groups and the same requested resources, whatever the amounts. */
function kindsOf(rows: readonly Row[], requests: Float64Array, dimensions: number): Int32Array[] {
  const kinds = new Map<string, number[]>();
  rows.forEach(({ filter, cell, tier, marks }, row) => {
    let key = `${filter}|${cell}|${tier}|${marks}|`;
    for (let at = row * dimensions; at < (row + 1) * dimensions; at++) key += requests[at] === 0 ? '0' : '1';
    const list = kinds.get(key);
    if (list === undefined) kinds.set(key, [row]);
    else list.push(row);
  });
  return [...kinds.values()].map((list) => Int32Array.from(list));
}

/** Splits clusters in two. */
class Splitter {
  readonly #dimensions: number;
  readonly #log: Float64Array;
  /** The share of the total requests that the pods of a row take, over all resources. */
  readonly #weight: Float64Array;

  constructor(rows: readonly Row[], requests: Float64Array, dimensions: number) {
    this.#dimensions = dimensions;
    this.#log = requests.map((amount) => Math.log(amount + 1e-9));
    const total = new Float64Array(dimensions);
    for (let at = 0; at < requests.length; at++) {
      const column = at % dimensions;
      const { demand } = rows[(at - column) / dimensions] as Row;
      total[column] = (total[column] as number) + (requests[at] as number) * demand;
    }
    this.#weight = Float64Array.from(rows, ({ demand }, row) => {
      let sum = 0;
      for (let column = 0; column < dimensions; column++) {
        const all = total[column] as number;
        if (all > 0) sum += ((requests[row * dimensions + column] as number) * demand) / all;
      }
      return sum;
    });
  }

  /** Where to split a cluster, and the gain: it grows with the distance between its pods and with their requests. */
  measure(members: Int32Array): Cluster {
    let widest = 0;
    let middle = 0;
    let width = 0;
    let weight = 0;
    for (const row of members) weight += this.#weight[row] as number;
    for (let column = 0; column < this.#dimensions; column++) {
      let low = Number.POSITIVE_INFINITY;
      let high = Number.NEGATIVE_INFINITY;
      for (const row of members) {
        const amount = this.#log[row * this.#dimensions + column] as number;
        if (amount < low) low = amount;
        if (amount > high) high = amount;
      }
      if (high - low <= width) continue;
      width = high - low;
      widest = column;
      middle = (high + low) / 2;
    }
    return { members, widest, middle, gain: width > ALIKE ? width * weight : 0 };
  }

  split({ members, widest, middle }: Cluster): [Int32Array, Int32Array] {
    const isLow = (row: number): boolean => (this.#log[row * this.#dimensions + widest] as number) < middle;
    return [members.filter(isLow), members.filter((row) => !isLow(row))];
  }
}

function describe(
  rows: readonly Row[],
  requests: Float64Array,
  dimensions: number,
  clusters: readonly Int32Array[],
): RowClusters {
  const mean = new Float64Array(clusters.length * dimensions);
  const largest = new Float64Array(clusters.length * dimensions);
  const clusterOf = new Int32Array(rows.length);
  const merged = clusters.map((members, cluster): Row => {
    let demand = 0;
    for (const row of members) {
      const own = rows[row] as Row;
      clusterOf[row] = cluster;
      demand += own.demand;
      for (let column = 0; column < dimensions; column++) {
        const at = cluster * dimensions + column;
        const amount = requests[row * dimensions + column] as number;
        mean[at] = (mean[at] as number) + amount * own.demand;
        if (amount > (largest[at] as number)) largest[at] = amount;
      }
    }
    for (let at = cluster * dimensions; at < (cluster + 1) * dimensions; at++) mean[at] = (mean[at] as number) / demand;
    return { ...(rows[members[0] as number] as Row), demand };
  });
  return { rows: merged, requests: mean, largest, clusterOf };
}
