/**
 * Places pods that must share one node: those with affinity over the hostname, and a pod they must be with. Packing row by
 * row would scatter them, so each bundle gets a node before the rest is packed.
 */
import { hasBit } from '../compile/bitset.ts';
import type { Admitted } from '../compile/compatibility.ts';
import { capacityOf, type PodClass } from '../compile/model.ts';
import type { PlacementState } from '../topology/placement-state.ts';
import { HOST } from '../topology/rules.ts';
import { type Market, shareOf } from './market.ts';

/** Opens a node for each bundle of the classes that fits on one; `filterOf` gives the filter of a class. */
export function placeBundles(
  state: PlacementState,
  market: Market,
  classes: readonly PodClass[],
  filterOf: (podClass: PodClass) => number,
): void {
  const byGroup = new Map<number, PodClass[]>();
  for (const podClass of classes) {
    if ((state.remaining[podClass.index] as number) === 0) continue;
    for (const { kind, key, group } of podClass.topology.rules) {
      if (kind !== 'affinity' || key !== HOST) continue;
      const list = byGroup.get(group);
      if (list === undefined) byGroup.set(group, [podClass]);
      else if (!list.includes(podClass)) list.push(podClass);
    }
  }
  for (const [group, members] of byGroup) {
    const open = members.filter(({ index }) => (state.remaining[index] as number) > 0);
    if (open.length === 0) continue;
    const bundle = open.map((podClass) => ({ podClass, count: state.remaining[podClass.index] as number }));
    const first = open.find((podClass) => podClass.topology.counted.includes(group));
    if (first === undefined) {
      const target = classes.find(
        (podClass) => (state.remaining[podClass.index] as number) > 0 && podClass.topology.counted.includes(group),
      );
      if (target === undefined) continue;
      bundle.unshift({ podClass: target, count: 1 });
    } else bundle.sort((a, b) => Number(b.podClass === first) - Number(a.podClass === first));
    placeTogether(state, market, bundle, first === undefined, filterOf);
  }
}

/**
 * Opens the cheapest node that holds the whole bundle and that the rules allow. If the bundle is led by a pod that the
 * others must be with, the node is for the others: without them it is not opened.
 */
function placeTogether(
  state: PlacementState,
  market: Market,
  bundle: readonly { podClass: PodClass; count: number }[],
  led: boolean,
  filterOf: (podClass: PodClass) => number,
): void {
  const { model } = state;
  const { catalogue } = model;
  const total = new Float64Array(catalogue.dimensions);
  for (const { podClass, count } of bundle) {
    podClass.requests.forEach((amount, column) => {
      total[column] = (total[column] as number) + amount * count;
    });
  }
  const filters = [...new Set(bundle.map(({ podClass }) => filterOf(podClass)))];
  const options: number[] = [];
  for (let option = 0; option < catalogue.optionCount; option++) {
    if (!market.sells(option) || state.purse.affords(option) === 0) continue;
    if (model.minValues.concern(option) && filters.length > 1) continue;
    if (!filters.every((filter) => hasBit((model.admitted[filter] as Admitted).options, option))) continue;
    if (shareOf(total, capacityOf(model, option, filters[0] as number), 0) <= 1) options.push(option);
  }
  const tier = (option: number): number =>
    model.poolTier[
      (catalogue.templates[catalogue.optionTemplate[option] as number] as { pool: number }).pool
    ] as number;
  const { optionPrice } = catalogue;
  options.sort((a, b) => tier(a) - tier(b) || (optionPrice[a] as number) - (optionPrice[b] as number) || a - b);
  const cells = new Set<number>();
  for (const option of options) {
    // Another option in the same domains meets the same rules.
    const cell = model.optionCell[option] as number;
    if (cells.has(cell)) continue;
    cells.add(cell);
    const node = state.open(option, filters[0] as number);
    for (const { podClass, count } of bundle) {
      for (let placed = 0; placed < count; placed++) {
        if (state.room(podClass, node, 1) === 0 || !state.allows(podClass, node)) break;
        state.place(podClass, node, 1);
      }
    }
    if (led && (state.contents[node] as number[]).length === 2) state.undo();
    if ((state.contents[node] as number[]).length > 0) return;
    state.close(node);
  }
}
