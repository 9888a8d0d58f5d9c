import { typeLabel } from '../compile/type-label.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, ZONE } from '../compile/well-known.ts';
import type { FleetState } from './fleet-state.ts';
import type { MarketLadder } from './market-ladder.ts';
import { optionsFor, templateOf } from './node-options.ts';

/** Whether the options for a new node, up to a price, still have as many values as its pool's minValues demand. */
export function meetsMinValues(state: FleetState, ladder: MarketLadder, node: number, most: number): boolean {
  const { model } = state;
  const { pool } = templateOf(model, state.nodeOption[node] as number);
  const wanted = (model.problem.pools[pool]?.requirements ?? []).filter(({ minValues }) => minValues !== undefined);
  if (wanted.length === 0) return true;
  const { optionPrice } = model.catalogue;
  const options = optionsFor(state, ladder, node, { samePool: true }).filter(
    (option) => (optionPrice[option] as number) <= most,
  );
  return wanted.every(({ key, minValues = 0 }) => {
    const values = new Set(options.map((option) => valueOfKey(state, option, key)));
    values.delete(undefined);
    return values.size >= minValues;
  });
}

function valueOfKey({ model }: FleetState, option: number, key: string): string | undefined {
  const { catalogue, problem } = model;
  const { type, pool } = templateOf(model, option);
  const offering = catalogue.optionOffering[option];
  if (key === INSTANCE_TYPE) return typeLabel(problem.instanceTypes[type]);
  if (key === ZONE) return offering?.zone;
  if (key === CAPACITY_TYPE) return offering?.capacityType;
  return offering?.labels?.[key] ?? problem.instanceTypes[type]?.labels?.[key] ?? problem.pools[pool]?.labels?.[key];
}
