/**
 * Plans the wasteful part of a fleet anew, all at once: the solver plans its pods as if they were pending. Exchanges of a
 * few nodes get stuck if no small group can be improved, or if each exchange alone would break a spread that is already
 * uneven. A new plan for all of them does not.
 *
 * It must be carried out exactly, so only pods take part that can be steered to their planned nodes.
 */
import { HOSTNAME } from '../compile/well-known.ts';
import type { Slices, Work } from '../packing/work.ts';
import type { BoundPod, Offering, PodGroup, Problem } from '../problem.ts';
import type { NewNode, RankedOffering } from '../solution.ts';
import { solveSteps } from '../solve.ts';
import { worth } from '../unit-prices.ts';
import type { Allowances } from './allowances.ts';
import type { ConsolidationOptions, FleetNode, FleetPod } from './fleet.ts';
import type { FleetState } from './fleet-state.ts';
import { templateOf } from './node-options.ts';
import { slotKey } from './slot-key.ts';

type PodsByGroup = ReadonlyMap<number, readonly number[]>;

/** A node takes part if it wastes at least this share of its price. */
export const WASTED = 0.1;
/** At most this many nodes are planned anew together, since all of them wait for each other's launches. */
const MOST_NODES = 200;
/** Units of work for the new plan: half a second. */
const STEPS = 10_000_000;

/** Price of room on nodes that stay, as a share of its value. */
const ROOM_PRICE = 0.8;

export interface RebuildParts {
  readonly state: FleetState;
  readonly allowances: Allowances;
  /** Value of a unit of each resource, and of each pod. */
  readonly prices: Float64Array;
  readonly podWorth: Float64Array;
  readonly options: ConsolidationOptions;
  readonly work: Work;
  /** What the rebuild must save, in USD per hour, for this many evictions and removed nodes of this price. */
  readonly wanted: (evictions: number, leaving: number) => number;
  /** The price of wasteful nodes that may be kept and filled up, as a share of the value of all pods on wasteful nodes. */
  readonly keep: number;
}

/** The removed and launched nodes, and the existing nodes that are filled up; both empty if there is no such plan. */
export interface Rebuilt {
  readonly exchanged: readonly number[];
  readonly filled: ReadonlySet<number>;
}

const NOTHING: Rebuilt = { exchanged: [], filled: new Set() };

/** Plans anew and applies the plan to the state. */
export function* rebuild(parts: RebuildParts): Slices<Rebuilt> {
  const { state, work, options } = parts;
  const idle = yield* letEmptyGo(parts);
  const { leaving, waste } = yield* wasteful(parts);
  const filled = filledUp(parts, leaving);
  const going = leaving.filter((node) => !filled.has(node));
  const all = going.flatMap((node) => [...state.podsOn(node)]);
  // At market prices no plan saves more than the total waste.
  const price = going.reduce((sum, node) => sum + (state.nodePrice[node] as number), 0);
  if (going.length < 2 || idle + waste < parts.wanted(all.length, price)) return NOTHING;
  const pods = Map.groupBy(all, (pod) => (state.compiled.fleet.pods[pod] as FleetPod).group);
  const problem = yield* problemOf(parts, new Set(going), filled, pods);
  const { elapsedMs, deadlineMs = Number.POSITIVE_INFINITY } = options;
  const limits = { maxSteps: STEPS, ...(elapsedMs === undefined ? {} : { elapsedMs, deadlineMs }) };
  const solution = yield* solveSteps(problem, { ...limits, preferences: false });
  work.spend(solution.steps);
  if (solution.unplaced.length > 0) return NOTHING;
  const podOf = [...pods.values()].flat();
  const choices = optionsByOffering(state);
  yield;
  const before = state.nodeCount;
  for (const pod of podOf) state.lift(pod);
  const rooms = new Map([...filled].map((node) => [roomOf(state.compiled.fleet.nodes[node]?.name ?? ''), node]));
  const placed = solution.newNodes.every((node) => {
    const room = rooms.get(node.offerings[0]?.instanceType ?? '');
    if (room === undefined) return place(state, node, podOf, choices);
    for (const number of node.pods) state.move(podOf[number] as number, room);
    return true;
  });
  if (!placed) {
    state.rollback(before);
    return NOTHING;
  }
  state.commit(going);
  const news = Array.from({ length: state.nodeCount - before }, (_, index) => before + index);
  return { exchanged: [...going, ...news], filled };
}

/** Removes empty nodes as usual; returns their price. */
function* letEmptyGo({ state, allowances, work }: RebuildParts): Slices<number> {
  let price = 0;
  for (let node = 0; node < state.existingCount; node++) {
    if (work.spend(2)) yield;
    if (state.podsOn(node).length > 0 || (allowances.blocked(node) ?? allowances.refusal([node])) !== undefined)
      continue;
    allowances.take([node]);
    state.commit([node]);
    price += state.nodePrice[node] as number;
  }
  return price;
}

/** The most wasteful nodes with pods that may be removed within the budgets, and their total waste. */
function* wasteful(parts: RebuildParts): Slices<{ leaving: number[]; waste: number }> {
  const { state, allowances, podWorth, work } = parts;
  const { compiled, nodePrice } = state;
  const found: { node: number; waste: number; share: number }[] = [];
  for (const [node, { settling }] of compiled.fleet.nodes.entries()) {
    const pods = state.podsOn(node);
    if (work.spend(2 + pods.length)) yield;
    if (settling === true || pods.length === 0 || allowances.blocked(node) !== undefined) continue;
    if (!pods.every((pod) => compiled.fleet.pods[pod]?.steerable === true)) continue;
    const price = nodePrice[node] as number;
    const waste = price - pods.reduce((sum, pod) => sum + (podWorth[pod] as number), 0);
    if (waste > WASTED * price) found.push({ node, waste, share: waste / price });
  }
  found.sort((a, b) => b.share - a.share || a.node - b.node);
  const leaving: number[] = [];
  let wasted = 0;
  for (const { node, waste } of found) {
    if (leaving.length === MOST_NODES) break;
    if (work.spend(2 + state.podsOn(node).length)) yield;
    if (allowances.refusal([node]) !== undefined) continue;
    allowances.take([node]);
    leaving.push(node);
    wasted += waste;
  }
  return { leaving, waste: wasted };
}

/**
 * The wasteful nodes to fill up instead of draining: those with the highest disruption cost for their price. Each zone
 * gets about the same price of them, since zone spreads need room in all zones.
 */
function filledUp({ state, allowances, podWorth, keep }: RebuildParts, leaving: readonly number[]): Set<number> {
  const { fleet } = state.compiled;
  const worthOf = (node: number): number => state.podsOn(node).reduce((sum, pod) => sum + (podWorth[pod] as number), 0);
  const zoneOf = (node: number): string => fleet.nodes[node]?.zone ?? '';
  const zones = new Set(leaving.map(zoneOf)).size;
  const share = (keep * leaving.reduce((sum, node) => sum + worthOf(node), 0)) / zones;
  const spent = new Map<string, number>();
  const kept = new Set<number>();
  const rate = (node: number): number => allowances.disruptionCost(node) / (state.nodePrice[node] as number);
  for (const node of [...leaving].sort((a, b) => rate(b) - rate(a) || a - b)) {
    const price = (spent.get(zoneOf(node)) ?? 0) + (state.nodePrice[node] as number);
    if (price > share || fleet.nodes[node]?.closed === true) continue;
    spent.set(zoneOf(node), price);
    kept.add(node);
  }
  return kept;
}

/**
 * A problem with the pods of the removed nodes; new nodes and the nodes to fill up are for sale. Other nodes that stay are
 * included for topology rules.
 */
function* problemOf(
  parts: RebuildParts,
  leaving: ReadonlySet<number>,
  filled: ReadonlySet<number>,
  pods: PodsByGroup,
): Slices<Problem> {
  const { state } = parts;
  const { fleet } = state.compiled;
  const staying = [...fleet.nodes.entries()].filter(([node]) => !leaving.has(node) && state.gone[node] === 0);
  return {
    pods: [...pods].map(([group, { length: count }]) => ({ ...(fleet.groups[group] as PodGroup), count })),
    ...withRooms(parts, filled),
    nodes: staying.map(([, { name, labels, taints = [] }]) => ({ name, labels, taints, free: {}, leaving: true })),
    boundPods: yield* boundPods(parts, leaving),
    ...(fleet.daemons === undefined ? {} : { daemons: fleet.daemons }),
    ...(fleet.namespaces === undefined ? {} : { namespaces: fleet.namespaces }),
  };
}

/**
 * Offers the room on nodes to fill up as instance types with one slot each, so that it is filled with pods that fit
 * together, like any other machine. It is paid for already, but needs a price, or its pods would have no value.
 */
function withRooms(
  { state, prices }: RebuildParts,
  filled: ReadonlySet<number>,
): Pick<Problem, 'pools' | 'instanceTypes'> {
  const { fleet } = state.compiled;
  if (filled.size === 0) return { pools: fleet.pools, instanceTypes: fleet.instanceTypes };
  const { dimensions } = state.model;
  const rooms = [...filled].map((index) => {
    const { name, labels, zone, capacityType, pool } = fleet.nodes[index] as FleetNode;
    const free = state.free.slice(index * dimensions.size, (index + 1) * dimensions.size);
    const offerings = [{ zone, capacityType, price: ROOM_PRICE * worth(prices, free), slots: 1 }];
    const { [HOSTNAME]: _, ...shared } = labels;
    return { pool, type: { name: roomOf(name), labels: shared, capacity: dimensions.toResources(free), offerings } };
  });
  const sold = fleet.instanceTypes.map(({ name }) => name);
  return {
    instanceTypes: [...fleet.instanceTypes, ...rooms.map(({ type }) => type)],
    pools: fleet.pools.map((pool) => {
      const own = rooms.filter((room) => room.pool === pool.name).map(({ type }) => type.name);
      return { ...pool, instanceTypes: [...(pool.instanceTypes ?? sold), ...own] };
    }),
  };
}

function roomOf(node: string): string {
  return `room on ${node}`;
}

function* boundPods({ state, work }: RebuildParts, leaving: ReadonlySet<number>): Slices<BoundPod[]> {
  const { nodes, pods, groups, boundPods: standing = [] } = state.compiled.fleet;
  const bound: BoundPod[] = [];
  const staying = new Set<string>();
  for (const [index, { name: node }] of nodes.entries()) {
    if (leaving.has(index) || state.gone[index] === 1) continue;
    staying.add(node);
    const counts = new Map<number, number>();
    for (const pod of state.podsOn(index)) {
      const { group } = pods[pod] as FleetPod;
      counts.set(group, (counts.get(group) ?? 0) + 1);
    }
    for (const [group, count] of counts) {
      const { namespace, labels = {}, podAntiAffinity = [] } = groups[group] as PodGroup;
      bound.push({ node, count, namespace, labels, podAntiAffinity });
    }
    if (work.spend(5 + state.podsOn(index).length)) yield;
  }
  for (const pod of standing) {
    if (staying.has(pod.node)) bound.push(pod);
    if (work.spend(1)) yield;
  }
  return bound;
}

/** Opens a node of the new plan and places its pods; false if it cannot be launched while the old nodes still run. */
function place(
  state: FleetState,
  { pool, offerings, pods }: NewNode,
  podOf: readonly number[],
  options: Options,
): boolean {
  const own = pods.map((number) => podOf[number] as number);
  for (const option of options.get(optionKey(pool, offerings[0] as RankedOffering)) ?? []) {
    if (!state.supply.affords(option)) continue;
    const node = state.open(option);
    if (own.every((pod) => state.admits(state.compiled.podFilter[pod] as number, node))) {
      for (const pod of own) state.move(pod, node);
      return true;
    }
    state.close();
  }
  return false;
}

type Options = ReadonlyMap<string, readonly number[]>;

/** The options of a model, keyed by pool and offering. */
function optionsByOffering({ model }: FleetState): Options {
  const { catalogue, problem } = model;
  const numbers = Array.from({ length: catalogue.optionCount }, (_, option) => option);
  return Map.groupBy(numbers, (option) => {
    const { pool, type } = templateOf(model, option);
    const offering = catalogue.optionOffering[option] as Offering;
    const instanceType = problem.instanceTypes[type]?.name ?? '';
    return optionKey(problem.pools[pool]?.name ?? '', { ...offering, instanceType });
  });
}

function optionKey(pool: string, { instanceType, ...offering }: Omit<RankedOffering, 'price'>): string {
  return `${pool}/${instanceType}/${slotKey(instanceType, offering)}`;
}
