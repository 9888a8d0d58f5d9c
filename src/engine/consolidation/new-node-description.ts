/** Describes a planned node for its launch: its pool, its requirements, and the offerings in the order to try them. */
import { typeLabel } from '../compile/type-label.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, ZONE } from '../compile/well-known.ts';
import type { InstanceType, Requirement } from '../problem.ts';
import type { RankedOffering } from '../solution.ts';
import type { FleetState } from './fleet-state.ts';
import type { MarketLadder } from './market-ladder.ts';
import { optionsFor, templateOf } from './node-options.ts';
import type { MoveNode } from './plan.ts';

/** Offerings listed for each new node. */
const RANKED = 40;
/** At least this many on-demand offerings are added if available. Otherwise spot could fill the list and leave no fallback. */
const ON_DEMAND = 5;

/** Describes a new node; no listed offering costs more than `most`. */
export function describeNewNode(state: FleetState, ladder: MarketLadder, node: number, most: number): MoveNode {
  const { model, nodeOption, free } = state;
  const { catalogue, dimensions, problem } = model;
  const chosen = nodeOption[node] as number;
  const template = templateOf(model, chosen);
  const pool = problem.pools[template.pool];
  const limit = (pool?.requirements ?? []).some(({ minValues }) => minValues !== undefined)
    ? Number.POSITIVE_INFINITY
    : RANKED;
  const others = optionsFor(state, ladder, node, { samePool: true }).filter(
    (option) => option !== chosen && (catalogue.optionPrice[option] as number) <= most,
  );
  const ranked = listed(distinct([chosen, ...others].map((option) => offeringOf(state, option))), limit);
  const offerings = ranked.map(({ offering }) => offering);
  const used = new Float64Array(dimensions.size);
  const row = (catalogue.optionTemplate[chosen] as number) * dimensions.size;
  for (let column = 0; column < used.length; column++) {
    used[column] = (catalogue.alloc[row + column] as number) - (free[node * used.length + column] as number);
  }
  const values = (pick: (one: Ranked) => string): string[] => [...new Set(ranked.map(pick))].sort();
  const narrowed: Requirement[] = [
    { key: INSTANCE_TYPE, operator: 'In', values: values(({ type }) => typeLabel(type)) },
    { key: ZONE, operator: 'In', values: values(({ offering }) => offering.zone) },
    { key: CAPACITY_TYPE, operator: 'In', values: values(({ offering }) => offering.capacityType) },
  ];
  const settled = template.openKeys.map((key): Requirement => {
    const value = template.labels[key];
    const name = model.keys.names[key] as string;
    return value === undefined
      ? { key: name, operator: 'DoesNotExist', values: [] }
      : { key: name, operator: 'In', values: [value] };
  });
  const replaced = new Set(narrowed.map(({ key }) => key));
  return {
    pool: pool?.name ?? '',
    requirements: [...(pool?.requirements ?? []).filter(({ key }) => !replaced.has(key)), ...settled, ...narrowed],
    offerings,
    price: catalogue.optionPrice[chosen] as number,
    pods: [...state.podsOn(node)].sort((a, b) => a - b),
    requests: dimensions.toResources(used),
  };
}

interface Ranked {
  readonly offering: RankedOffering;
  readonly type: InstanceType | undefined;
}

function offeringOf({ model }: FleetState, option: number): Ranked {
  const { catalogue, problem } = model;
  const offering = catalogue.optionOffering[option];
  const type = problem.instanceTypes[templateOf(model, option).type];
  const ranked = {
    instanceType: type?.name ?? '',
    zone: offering?.zone ?? '',
    capacityType: offering?.capacityType ?? 'on-demand',
    ...(offering?.reservationId === undefined ? {} : { reservationId: offering.reservationId }),
    price: catalogue.optionPrice[option] as number,
  };
  return { offering: ranked, type };
}

/** The first offerings up to the limit, plus on-demand ones if too few of those are on-demand. */
function listed(ranked: readonly Ranked[], limit: number): readonly Ranked[] {
  const isOnDemand = ({ offering }: Ranked): boolean => offering.capacityType === 'on-demand';
  const first = ranked.slice(0, limit);
  const missing = Math.max(0, ON_DEMAND - first.filter(isOnDemand).length);
  return [...first, ...ranked.slice(first.length).filter(isOnDemand).slice(0, missing)];
}

/** Two templates of a pool may lead to the same offering. */
function distinct(ranked: readonly Ranked[]): Ranked[] {
  const seen = new Set<string>();
  return ranked.filter(({ offering: { instanceType, zone, capacityType, reservationId } }) => {
    const key = `${instanceType}/${zone}/${capacityType}/${reservationId}`;
    return !seen.has(key) && seen.add(key);
  });
}
