/** Finds the options that could hold the pods of a new node. */
import { type Bitset, hasBit, intersection } from '../compile/bitset.ts';
import type { Template } from '../compile/catalogue.ts';
import type { Admitted } from '../compile/compatibility.ts';
import type { Model } from '../compile/model.ts';
import { HOST } from '../topology/rules.ts';
import type { FleetState } from './fleet-state.ts';
import type { MarketLadder } from './market-ladder.ts';

/** Selects among the options. */
export interface OptionsWanted {
  /** Only options of the node's own pool. */
  readonly samePool?: boolean;
  /** At most this many of the cheapest. */
  readonly most?: number;
}

/**
 * The options that could hold a new node's pods, from cheap to expensive. Its current option is included; others only if
 * they can be launched.
 */
export function optionsFor(
  state: FleetState,
  ladder: MarketLadder,
  node: number,
  { samePool = false, most = Number.POSITIVE_INFINITY }: OptionsWanted,
): number[] {
  const { model, nodeOption, supply } = state;
  const current = nodeOption[node] as number;
  const own = templateOf(model, current);
  const { first, admitted, counting, pinned } = conditions(state, node);
  if (first < 0) return [];
  const tier = ladder.tierOf(current);
  const result: number[] = [];
  for (const option of ladder.byPrice(first, pinned ? model.optionCell[current] : -1)) {
    if (!holds(state, node, option) || !hasBit(admitted, option) || ladder.tierOf(option) !== tier) continue;
    const template = templateOf(model, option);
    if (samePool && template.pool !== own.pool) continue;
    if (!template.openKeys.every((key) => template.labels[key] === own.labels[key])) continue;
    if (!counting.every((filter) => alike(model, filter, option, current))) continue;
    if (option !== current && !supply.affords(option)) continue;
    result.push(option);
    if (result.length >= most) break;
  }
  return result;
}

/** What the pods of a node require of an option. */
interface Conditions {
  /** One of their filters, and the options admitted by all of them. */
  readonly first: number;
  readonly admitted: Bitset;
  /** Filters of the groups that count some of them. An option on the other side of such a filter would change the counts. */
  readonly counting: readonly number[];
  /** Whether the node must stay in its zone. */
  readonly pinned: boolean;
}

function conditions(state: FleetState, node: number): Conditions {
  const { model, compiled } = state;
  const filters = new Set<number>();
  const counting = new Set<number>();
  let pinned = false;
  for (const pod of state.podsOn(node)) {
    filters.add(compiled.podFilter[pod] as number);
    pinned ||= isPinned(state, pod);
    if (model.countFilters.length === 0) continue;
    for (const group of state.classOf(pod).topology.counted) counting.add(model.groups[group]?.filter ?? -1);
  }
  counting.delete(-1);
  const [first = -1] = [...filters].sort((a, b) => a - b);
  let admitted: Bitset = (model.admitted[first] as Admitted | undefined)?.options ?? new Uint32Array(0);
  for (const filter of filters) {
    if (filter !== first) admitted = intersection(admitted, (model.admitted[filter] as Admitted).options);
  }
  return { first, admitted, counting: [...counting], pinned };
}

function alike(model: Model, filter: number, a: number, b: number): boolean {
  const { options } = model.admitted[filter] as Admitted;
  return hasBit(options, a) === hasBit(options, b);
}

/** Whether moving to another zone would affect a topology count or rule of the pod. */
function isPinned(state: FleetState, pod: number): boolean {
  const { topology } = state.classOf(pod);
  for (const { key } of topology.rules) if (key !== HOST) return true;
  for (const group of topology.counted) if (state.model.groups[group]?.key !== HOST) return true;
  return false;
}

function holds({ free, capacity, model }: FleetState, node: number, option: number): boolean {
  const { alloc, dimensions, optionTemplate } = model.catalogue;
  const row = (optionTemplate[option] as number) * dimensions;
  const from = node * dimensions;
  for (let column = 0; column < dimensions; column++) {
    const used = (capacity[from + column] as number) - (free[from + column] as number);
    if (used > (alloc[row + column] as number) && used > 0) return false;
  }
  return true;
}

/** The template of an option. */
export function templateOf({ catalogue }: Model, option: number): Template {
  return catalogue.templates[catalogue.optionTemplate[option] as number] as Template;
}
