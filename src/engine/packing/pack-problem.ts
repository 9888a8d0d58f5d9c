/**
 * The packing problem behind a batch of pods: rows of equal pods with a demand, and candidate machines with a price. Pods that
 * must not share a node (self anti-affinity, host spread, ports) are one more resource of which each node has so much.
 */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import { capacityOf, type Model, type PodClass } from '../compile/model.ts';
import { HOST } from '../topology/rules.ts';
import type { Market } from './market.ts';

/** Pods of one class that go to one cell (-1: any). */
export interface RowPart {
  readonly podClass: PodClass;
  readonly filter: number;
  readonly cell: number;
  count: number;
}

/** Pods that pack alike. */
export interface Row {
  readonly filter: number;
  readonly cell: number;
  demand: number;
}

/** A machine that could be bought, with what it offers to rows. */
export interface Candidate {
  readonly option: number;
  /** The filter its capacity is for; where minValues concern the option, all its rows have it. */
  readonly filter: number;
  readonly price: number;
  /** Rows it can hold. */
  readonly rows: Int32Array;
  /** What one pod of each of these rows takes, as a share of the machine, `dimensions` numbers for each. */
  readonly share: Float64Array;
  /** How many pods of each of these rows it holds alone. */
  readonly fit: Float64Array;
}

/** Rows and candidates. */
export interface PackProblem {
  readonly dimensions: number;
  readonly parts: readonly RowPart[];
  readonly rows: readonly Row[];
  readonly rowRequests: Float64Array;
  readonly candidates: readonly Candidate[];
  /** Row of each part, or -1 where no candidate holds it. */
  readonly rowOfPart: Int32Array;
}

/** Groups whose pods exclude each other on a host, when there are so many of them that they decide the number of nodes. */
const MAX_EXCLUSIVE = 3;
/** Above this many rows, requests are rounded up to a grid so that fewer remain. */
const MAX_ROWS = 400;

/** What to build a packing problem for. */
export interface PackScope {
  /** Tier of pools to buy from; all when absent. */
  readonly tier?: number;
  /** Sizes kept of machines that differ only in size. */
  readonly ladder: number;
  /** For lower bounds: whatever is simplified must make the problem easier, never harder. */
  readonly relaxed?: boolean;
}

/** Builds the packing problem of some parts. */
export function buildPackProblem(
  model: Model,
  market: Market,
  parts: readonly RowPart[],
  scope: PackScope,
): PackProblem {
  const base = model.dimensions.size;
  const exclusive = exclusiveGroups(parts);
  const dimensions = base + exclusive.length;
  const relaxed = scope.relaxed === true;
  let grid = 0;
  let gathered = gatherRows(parts, exclusive, base, grid, relaxed);
  while (gathered.rows.length > MAX_ROWS && grid < 4) gathered = gatherRows(parts, exclusive, base, ++grid, relaxed);
  const { rows, rowOfPart } = gathered;
  const rowRequests = Float64Array.from(gathered.requests);
  const candidates = findCandidates(model, market, rows, rowRequests, exclusive, scope);
  const served = new Uint8Array(rows.length);
  for (const candidate of candidates) for (const row of candidate.rows) served[row] = 1;
  for (let part = 0; part < rowOfPart.length; part++) {
    if (served[rowOfPart[part] as number] === 0) rowOfPart[part] = -1;
  }
  return { dimensions, parts, rows, rowRequests, candidates, rowOfPart };
}

interface ExclusiveGroup {
  readonly key: string;
  readonly perNode: number;
}

/** The groups of pods that a pod belongs to and of which only so many fit on a node: by its own rules, and by its ports. */
function exclusionsOf(podClass: PodClass): ExclusiveGroup[] {
  const result: ExclusiveGroup[] = [];
  for (const rule of podClass.topology.rules) {
    if (rule.key !== HOST || !rule.self || rule.kind === 'affinity') continue;
    const perNode = rule.kind === 'spread' ? rule.maxSkew : 1;
    result.push({ key: `${rule.group}|${perNode}`, perNode });
  }
  for (const { port, protocol, hostIP } of podClass.ports) {
    result.push({ key: `port ${port} ${protocol} ${hostIP}`, perNode: 1 });
  }
  return result;
}

/** The largest such groups. */
function exclusiveGroups(parts: readonly RowPart[]): ExclusiveGroup[] {
  const demand = new Map<string, { key: string; perNode: number; nodes: number }>();
  for (const { podClass, count } of parts) {
    for (const { key, perNode } of exclusionsOf(podClass)) {
      const known = demand.get(key);
      if (known === undefined) demand.set(key, { key, perNode, nodes: count / perNode });
      else known.nodes += count / perNode;
    }
  }
  const sorted = [...demand.values()].sort((a, b) => b.nodes - a.nodes || (a.key < b.key ? -1 : 1));
  const most = sorted[0]?.nodes ?? 0;
  return sorted.filter(({ nodes }) => nodes >= most / 4 && nodes > 1).slice(0, MAX_EXCLUSIVE);
}

function gatherRows(
  parts: readonly RowPart[],
  exclusive: readonly ExclusiveGroup[],
  base: number,
  grid: number,
  down: boolean,
): { rows: Row[]; rowOfPart: Int32Array; requests: number[] } {
  const ids = new Map<string, number>();
  const rows: Row[] = [];
  const requests: number[] = [];
  const rowOfPart = new Int32Array(parts.length);
  const row = new Float64Array(base + exclusive.length);
  parts.forEach(({ podClass, filter, cell, count }, index) => {
    for (let column = 0; column < base; column++) row[column] = round(podClass.requests[column] as number, grid, down);
    if (exclusive.length > 0) {
      const own = exclusionsOf(podClass).map(({ key }) => key);
      exclusive.forEach(({ key }, position) => {
        row[base + position] = own.includes(key) ? 1 : 0;
      });
    }
    const key = `${filter}|${cell}|${row.join()}`;
    let id = ids.get(key);
    if (id === undefined) {
      id = rows.length;
      ids.set(key, id);
      rows.push({ filter, cell, demand: 0 });
      for (const amount of row) requests.push(amount);
    }
    (rows[id] as Row).demand += count;
    rowOfPart[index] = id;
  });
  return { rows, rowOfPart, requests };
}

/** Up (or down) to the next step of a geometric grid: none, then 8, 4, 2, 1 steps for each doubling. */
function round(amount: number, grid: number, down: boolean): number {
  if (grid === 0 || amount <= 1) return amount;
  const steps = 16 >> grid;
  const exponent = Math.log2(amount) * steps;
  if (down) return Math.floor(2 ** (Math.floor(exponent + 1e-9) / steps));
  return Math.ceil(2 ** (Math.ceil(exponent - 1e-9) / steps));
}

/** The options worth considering: for each set of rows they can hold, those that no other beats in price and every resource. */
function findCandidates(
  model: Model,
  market: Market,
  rows: readonly Row[],
  rowRequests: Float64Array,
  exclusive: readonly ExclusiveGroup[],
  scope: PackScope,
): Candidate[] {
  const { catalogue, optionCell, poolTier, admitted } = model;
  const { optionPrice, optionTemplate, templates, alloc, dimensions } = catalogue;
  const filters = [...new Set(rows.map((row) => row.filter))];
  const cells = new Set(rows.map((row) => row.cell));
  const byKind = new Map<string, number[]>();
  for (let option = 0; option < catalogue.optionCount; option++) {
    const { pool } = templates[optionTemplate[option] as number] as { pool: number };
    if (!market.sells(option) || (scope.tier !== undefined && poolTier[pool] !== scope.tier)) continue;
    let kind = '';
    let wanted = false;
    for (const filter of filters) {
      const admits = hasBit((admitted[filter] as Admitted).options, option);
      kind += admits ? '1' : '0';
      wanted ||= admits;
    }
    if (!wanted) continue;
    // Offerings of which only so many can be bought never push others out.
    const reservation = catalogue.optionReservation[option] as number;
    kind += `|${cells.has(optionCell[option] as number) ? optionCell[option] : -1}|${reservation}`;
    if (model.minValues.concern(option)) kind += `|${pool}`;
    const list = byKind.get(kind);
    if (list === undefined) byKind.set(kind, [option]);
    else list.push(option);
  }
  const result: Candidate[] = [];
  for (const options of byKind.values()) {
    options.sort((a, b) => (optionPrice[a] as number) - (optionPrice[b] as number) || a - b);
    const kept = undominated(options, optionTemplate, alloc, dimensions);
    for (const option of thin(model, kept, scope.ladder)) {
      const base = catalogue.alloc.subarray((optionTemplate[option] as number) * dimensions);
      const concerned = scope.relaxed !== true && model.minValues.concern(option);
      for (const filter of concerned ? filters : [filters[0] as number]) {
        const capacity = concerned ? capacityOf(model, option, filter) : base;
        const held = concerned ? rows.map((row) => (row.filter === filter ? row : undefined)) : rows;
        const candidate = toCandidate(model, option, filter, held, rowRequests, exclusive, capacity);
        if (candidate !== undefined) result.push(candidate);
      }
    }
  }
  return result;
}

/** Of options in order of price, those that no cheaper one covers in every resource. */
function undominated(
  options: readonly number[],
  optionTemplate: Int32Array,
  alloc: Float64Array,
  dimensions: number,
): number[] {
  const kept: number[] = [];
  const largest = new Float64Array(dimensions).fill(Number.NEGATIVE_INFINITY);
  for (const option of options) {
    const row = (optionTemplate[option] as number) * dimensions;
    let exceeds = false;
    for (let column = 0; column < dimensions; column++) {
      if ((alloc[row + column] as number) <= (largest[column] as number)) continue;
      largest[column] = alloc[row + column] as number;
      exceeds = true;
    }
    let covered = false;
    // The last ones kept are the most alike; one that exceeds all in some resource need not be compared.
    for (let at = kept.length - 1; at >= 0 && !exceeds && !covered; at--) {
      covered = covers(alloc, (optionTemplate[kept[at] as number] as number) * dimensions, row, dimensions);
    }
    if (!covered) kept.push(option);
  }
  return kept;
}

function covers(alloc: Float64Array, a: number, b: number, columns: number): boolean {
  for (let column = 0; column < columns; column++) {
    if ((alloc[a + column] as number) < (alloc[b + column] as number)) return false;
  }
  return true;
}

/**
 * Thins out options in order of price. Machines of like proportions differ only in size, so about `most` sizes of each
 * proportion are enough: the smaller half of them all, then evenly over the logarithm of the price.
 */
function thin(model: Model, options: readonly number[], most: number): number[] {
  if (options.length <= most) return [...options];
  const { catalogue } = model;
  const byProportion = new Map<string, number[]>();
  for (const option of options) {
    const row = (catalogue.optionTemplate[option] as number) * catalogue.dimensions;
    const first = Math.max(catalogue.alloc[row] as number, 1);
    let key = '';
    for (let column = 1; column < catalogue.dimensions; column++) {
      key += `${Math.round(2 * Math.log2(((catalogue.alloc[row + column] as number) + 1e-3) / first))},`;
    }
    const list = byProportion.get(key);
    if (list === undefined) byProportion.set(key, [option]);
    else list.push(option);
  }
  return [...byProportion.values()].flatMap((list) => thinSizes(list, most, catalogue.optionPrice));
}

function thinSizes(options: readonly number[], most: number, price: Float64Array): readonly number[] {
  if (options.length <= most) return options;
  const dense = most >> 1;
  const result = options.slice(0, dense);
  const low = Math.log(price[options[dense] as number] as number);
  const high = Math.log(price[options[options.length - 1] as number] as number);
  const step = (high - low) / (most - dense - 1);
  let next = low;
  for (let index = dense; index < options.length; index++) {
    const at = Math.log(price[options[index] as number] as number);
    if (at >= next - 1e-9) {
      result.push(options[index] as number);
      next = at + step;
    }
  }
  return result;
}

function toCandidate(
  model: Model,
  option: number,
  filter: number,
  rows: readonly (Row | undefined)[],
  rowRequests: Float64Array,
  exclusive: readonly ExclusiveGroup[],
  offered: Float64Array,
): Candidate | undefined {
  const { catalogue, admitted, optionCell } = model;
  const base = catalogue.dimensions;
  const dimensions = base + exclusive.length;
  const capacity = new Float64Array(dimensions);
  for (let column = 0; column < base; column++) capacity[column] = offered[column] as number;
  exclusive.forEach(({ perNode }, position) => {
    capacity[base + position] = perNode;
  });
  const held: number[] = [];
  const share: number[] = [];
  const fits: number[] = [];
  rows.forEach((row, index) => {
    if (row === undefined) return;
    if (row.cell >= 0 && row.cell !== optionCell[option]) return;
    if (!hasBit((admitted[row.filter] as Admitted).options, option)) return;
    let fit = Number.MAX_SAFE_INTEGER;
    for (let column = 0; column < dimensions; column++) {
      const each = rowRequests[index * dimensions + column] as number;
      if (each > 0) fit = Math.min(fit, Math.floor((capacity[column] as number) / each));
    }
    if (fit < 1) return;
    held.push(index);
    fits.push(fit);
    for (let column = 0; column < dimensions; column++) {
      const each = rowRequests[index * dimensions + column] as number;
      share.push(each === 0 ? 0 : each / (capacity[column] as number));
    }
  });
  if (held.length === 0) return undefined;
  return {
    option,
    filter,
    price: catalogue.optionPrice[option] as number,
    rows: Int32Array.from(held),
    share: Float64Array.from(share),
    fit: Float64Array.from(fits),
  };
}
