/** Which options could carry what a new node carries. */
import { hasBit, intersection } from '../compile/bitset.ts';
import type { Template } from '../compile/catalogue.ts';
import type { Admitted } from '../compile/compatibility.ts';
import type { Model } from '../compile/model.ts';
import { HOST } from '../topology/rules.ts';
import type { FleetState } from './fleet-state.ts';
import type { MarketLadder } from './market-ladder.ts';

/** The options that could stand in for a new node's own, from cheap to dear, its own among them; reserved ones only while there are slots. */
export function optionsFor(state: FleetState, ladder: MarketLadder, node: number, samePool: boolean): number[] {
  const { model, compiled } = state;
  const { catalogue, optionCell } = model;
  const current = state.nodeOption[node] as number;
  const own = templateOf(model, current);
  const pods = state.podsOn(node);
  const filters = [...new Set(pods.map((pod) => compiled.podFilter[pod] as number))];
  const [first = -1] = filters;
  if (first < 0) return [];
  const admitted = filters
    .map((filter) => (model.admitted[filter] as Admitted).options)
    .reduce((a, b) => intersection(a, b));
  const pinned = pods.some((pod) => isPinned(state, pod));
  const tier = ladder.tierOf(current);
  const result: number[] = [];
  for (const option of ladder.byPrice(first)) {
    if (!hasBit(admitted, option) || ladder.tierOf(option) !== tier || !holds(state, node, option)) continue;
    const template = templateOf(model, option);
    if (samePool && template.pool !== own.pool) continue;
    if (pinned && optionCell[option] !== optionCell[current]) continue;
    if (!template.openKeys.every((key) => template.labels[key] === own.labels[key])) continue;
    if (!model.countFilters.every((filter) => alike(model, filter, option, current))) continue;
    const reserved = (catalogue.optionReservation[option] as number) >= 0;
    if (reserved && option !== current && !state.supply.affords(option)) continue;
    result.push(option);
  }
  return result;
}

function alike(model: Model, filter: number, a: number, b: number): boolean {
  const { options } = model.admitted[filter] as Admitted;
  return hasBit(options, a) === hasBit(options, b);
}

/** Whether another zone would change a topology count or rule for the pod. */
function isPinned(state: FleetState, pod: number): boolean {
  const { topology } = state.classOf(pod);
  if (topology.rules.some(({ key }) => key !== HOST)) return true;
  return topology.counted.some((group) => state.model.groups[group]?.key !== HOST);
}

function holds({ free, model, nodeOption }: FleetState, node: number, option: number): boolean {
  const { alloc, dimensions, optionTemplate } = model.catalogue;
  const from = (optionTemplate[nodeOption[node] as number] as number) * dimensions;
  const to = (optionTemplate[option] as number) * dimensions;
  for (let column = 0; column < dimensions; column++) {
    const used = (alloc[from + column] as number) - (free[node * dimensions + column] as number);
    if (used > 0 && used > (alloc[to + column] as number)) return false;
  }
  return true;
}

/** The template of an option. */
export function templateOf({ catalogue }: Model, option: number): Template {
  return catalogue.templates[catalogue.optionTemplate[option] as number] as Template;
}
