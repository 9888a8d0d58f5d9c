/**
 * The packing problem of a batch of pods: rows of equal pods with a demand, and candidate machines with a price. Pods that
 * must not share a node (self anti-affinity, host spread, ports) are modelled as an extra resource, of which each node has
 * a fixed amount.
 */
import { Interner } from '../compile/interner.ts';
import type { Model, PodClass } from '../compile/model.ts';
import { HOST } from '../topology/rules.ts';
import { findCandidates } from './candidates.ts';
import type { Market } from './market.ts';
import { breakUp, clusterRows, type RowClusters } from './row-clusters.ts';

/** Pods of one class for one cell (-1: any), on nodes of pools of one tier (absent: any). */
export interface RowPart {
  readonly podClass: PodClass;
  readonly filter: number;
  readonly cell: number;
  readonly tier?: number;
  count: number;
}

/** Pods that are equal for packing. */
export interface Row {
  readonly filter: number;
  readonly cell: number;
  /** -1: any. */
  readonly tier: number;
  /** The exclusive groups that its pods belong to, as bits. */
  readonly marks: number;
  demand: number;
}

/** A machine that could be launched, with the rows it can hold. */
export interface Candidate {
  readonly option: number;
  /** The filter its capacity is for; if minValues concern the option, all its rows have this filter. */
  readonly filter: number;
  readonly price: number;
  /** Its amount of each dimension. */
  readonly capacity: Float64Array;
  /** Rows it can hold. */
  readonly rows: Int32Array;
  /** The share of the machine that one pod of each of these rows takes, `dimensions` numbers per row. */
  readonly share: Float64Array;
  /** How many pods of each of these rows it holds if it holds nothing else. */
  readonly fit: Float64Array;
}

/** Rows and candidates. */
export interface PackProblem {
  readonly dimensions: number;
  readonly parts: readonly RowPart[];
  readonly rows: readonly Row[];
  readonly rowRequests: Float64Array;
  readonly candidates: readonly Candidate[];
  /** Row of each part, or -1 if no candidate holds it. */
  readonly rowOfPart: Int32Array;
  /** The real pods, if rows stand for pods that are only nearly equal. */
  readonly fine?: FineRows;
}

/** Rows of pods that are exactly equal. */
export interface FineRows {
  readonly rows: readonly Row[];
  readonly requests: Float64Array;
  /** The row of the packing problem that each belongs to. */
  readonly rowOf: Int32Array;
  readonly rowOfPart: Int32Array;
}

/** At most this many of the largest groups whose pods exclude each other on a host become resources: they decide the number of nodes. */
const MAX_EXCLUSIVE = 3;
/** Above this many rows, rows of nearly equal pods are merged. */
const MAX_ROWS = 400;
/** The number of rows after merging; more if pods are bound to many places. */
const CLUSTERS = 160;
const CLUSTERS_OF_A_PLACE = 64;

/** Options for building a packing problem. */
export interface PackScope {
  /** How many sizes to keep of machines that differ only in size. */
  readonly ladder: number;
  /** For lower bounds: every simplification must make the problem easier, never harder. */
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
  const exclusions = new Exclusions();
  const exclusive = exclusiveGroups(parts, exclusions);
  const dimensions = base + exclusive.length;
  const relaxed = scope.relaxed === true;
  let grid = 0;
  let gathered = gatherRows(model, parts, exclusive, exclusions, grid, relaxed);
  if (!relaxed && gathered.rows.length > MAX_ROWS) return clustered(model, market, parts, exclusive, gathered, scope);
  while (gathered.rows.length > MAX_ROWS && grid < 4)
    gathered = gatherRows(model, parts, exclusive, exclusions, ++grid, relaxed);
  const { rows, rowOfPart } = gathered;
  const rowRequests = Float64Array.from(gathered.requests);
  const candidates = findCandidates(model, market, { rows, requests: rowRequests, exclusive }, scope);
  const served = servedRows(rows.length, candidates);
  for (let part = 0; part < rowOfPart.length; part++) {
    if (served[rowOfPart[part] as number] === 0) rowOfPart[part] = -1;
  }
  return { dimensions, parts, rows, rowRequests, candidates, rowOfPart };
}

/** The packing problem of too many rows, built from clusters of them. */
function clustered(
  model: Model,
  market: Market,
  parts: readonly RowPart[],
  exclusive: readonly ExclusiveGroup[],
  gathered: Gathered,
  scope: PackScope,
): PackProblem {
  const dimensions = model.dimensions.size + exclusive.length;
  const fine = Float64Array.from(gathered.requests);
  const find = ({ rows, requests, largest }: RowClusters): Candidate[] =>
    findCandidates(model, market, { rows, requests, largest, exclusive }, scope);
  const places = new Set(gathered.rows.map(({ filter, cell, tier }) => `${filter}/${cell}/${tier}`)).size;
  const most = Math.min(MAX_ROWS, Math.max(CLUSTERS, places * CLUSTERS_OF_A_PLACE));
  let clusters = clusterRows(gathered.rows, fine, dimensions, most);
  let candidates = find(clusters);
  let served = servedRows(clusters.rows.length, candidates);
  // A machine holds a cluster if it holds each of its pods. If no machine does, its rows are separated again.
  if (served.includes(0)) {
    clusters = breakUp(clusters, gathered.rows, fine, (cluster) => served[cluster] === 0);
    candidates = find(clusters);
    served = servedRows(clusters.rows.length, candidates);
  }
  const { rows, clusterOf } = clusters;
  const fineOfPart = gathered.rowOfPart.map((row) => (served[clusterOf[row] as number] === 0 ? -1 : row));
  return {
    dimensions,
    parts,
    rows,
    rowRequests: clusters.requests,
    candidates,
    rowOfPart: fineOfPart.map((row) => (row < 0 ? -1 : (clusterOf[row] as number))),
    fine: { rows: gathered.rows, requests: fine, rowOf: clusterOf, rowOfPart: fineOfPart },
  };
}

function servedRows(count: number, candidates: readonly Candidate[]): Uint8Array {
  const served = new Uint8Array(count);
  for (const candidate of candidates) for (const row of candidate.rows) served[row] = 1;
  return served;
}

/** Pods of which a node holds at most `perNode`. */
export interface ExclusiveGroup {
  readonly key: string;
  readonly perNode: number;
}

/** The exclusive groups that a pod belongs to: by its own rules, and by its ports. */
class Exclusions {
  readonly #byKind = new Map<number, readonly ExclusiveGroup[]>();

  of(podClass: PodClass): readonly ExclusiveGroup[] {
    let known = this.#byKind.get(podClass.kind);
    if (known === undefined) {
      known = this.#find(podClass);
      this.#byKind.set(podClass.kind, known);
    }
    return known;
  }

  #find({ topology, ports }: PodClass): ExclusiveGroup[] {
    const result: ExclusiveGroup[] = [];
    for (const rule of topology.rules) {
      if (rule.key !== HOST || !rule.self || rule.kind === 'affinity') continue;
      const perNode = rule.kind === 'spread' ? rule.maxSkew : 1;
      result.push({ key: `${rule.group}|${perNode}`, perNode });
    }
    for (const { port, protocol, hostIP } of ports) {
      result.push({ key: `port ${port} ${protocol} ${hostIP}`, perNode: 1 });
    }
    return result;
  }
}

/** The largest exclusive groups. */
function exclusiveGroups(parts: readonly RowPart[], exclusions: Exclusions): ExclusiveGroup[] {
  const demand = new Map<string, { key: string; perNode: number; nodes: number }>();
  for (const { podClass, count } of parts) {
    for (const { key, perNode } of exclusions.of(podClass)) {
      const known = demand.get(key);
      if (known === undefined) demand.set(key, { key, perNode, nodes: count / perNode });
      else known.nodes += count / perNode;
    }
  }
  const sorted = [...demand.values()].sort((a, b) => b.nodes - a.nodes || (a.key < b.key ? -1 : 1));
  const most = sorted[0]?.nodes ?? 0;
  return sorted.filter(({ nodes }) => nodes >= most / 4 && nodes > 1).slice(0, MAX_EXCLUSIVE);
}

interface Gathered {
  readonly rows: Row[];
  readonly rowOfPart: Int32Array;
  readonly requests: number[];
}

function gatherRows(
  model: Model,
  parts: readonly RowPart[],
  exclusive: readonly ExclusiveGroup[],
  exclusions: Exclusions,
  grid: number,
  down: boolean,
): Gathered {
  const ids = new Map<number, number>();
  const rows: Row[] = [];
  const requests: number[] = [];
  const rowOfPart = new Int32Array(parts.length);
  const shapes = new Interner();
  const shapeOfSize = new Map<number, number>();
  const filters = model.admitted.length;
  const cells = model.cellDomains.length + 1;
  for (let index = 0; index < parts.length; index++) {
    const { podClass, filter, cell, count, tier = -1 } = parts[index] as RowPart;
    let shape = shapeOfSize.get(podClass.size);
    if (shape === undefined) {
      shape = shapes.id(podClass.requests.map((amount) => round(amount, grid, down)).join());
      shapeOfSize.set(podClass.size, shape);
    }
    let marks = 0;
    for (const { key } of exclusions.of(podClass)) {
      for (let position = 0; position < exclusive.length; position++) {
        if ((exclusive[position] as ExclusiveGroup).key === key) marks |= 1 << position;
      }
    }
    const place = (tier + 1) * cells + cell + 1;
    const key = (((shape << MAX_EXCLUSIVE) + marks) * filters + filter) * cells * (model.tierCount + 1) + place;
    let id = ids.get(key);
    if (id === undefined) {
      id = rows.length;
      ids.set(key, id);
      rows.push({ filter, cell, tier, marks, demand: 0 });
      for (const amount of podClass.requests) requests.push(round(amount, grid, down));
      for (let position = 0; position < exclusive.length; position++) requests.push((marks >> position) & 1);
    }
    (rows[id] as Row).demand += count;
    rowOfPart[index] = id;
  }
  return { rows, rowOfPart, requests };
}

/** Rounds up (or down) to the next step of a geometric grid: no rounding, then 8, 4, 2, 1 steps per doubling. */
function round(amount: number, grid: number, down: boolean): number {
  if (grid === 0 || amount <= 1) return amount;
  const steps = 16 >> grid;
  const exponent = Math.log2(amount) * steps;
  if (down) return Math.floor(2 ** (Math.floor(exponent + 1e-9) / steps));
  return Math.ceil(2 ** (Math.ceil(exponent - 1e-9) / steps));
}
