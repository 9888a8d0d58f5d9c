/**
 * Builds a plan in rounds. Each round places pods on open nodes, plans the zones of the remaining pods, packs them into
 * new nodes, and carries that packing out. Pods that a rule refused are tried again in the next round. Every placement is
 * legal when it is made.
 */
import type { Attempt } from './compile/attempts.ts';
import { isEmpty } from './compile/bitset.ts';
import type { Admitted } from './compile/compatibility.ts';
import type { Model, PodClass } from './compile/model.ts';
import { placeBundles } from './packing/bundles.ts';
import { carryOut } from './packing/carry-out.ts';
import { Market } from './packing/market.ts';
import { OpenNodes } from './packing/open-nodes.ts';
import { buildPackProblem, type PackProblem, type RowPart } from './packing/pack-problem.ts';
import type { Purse } from './packing/purse.ts';
import type { Packed } from './packing/settle-cover.ts';
import type { Slices, Work } from './packing/work.ts';
import { type DomainPlan, planDomains } from './topology/domain-plan.ts';
import { exchangeCells } from './topology/exchange-cells.ts';
import { PlacementState } from './topology/placement-state.ts';

/** At most this many classes are tried one by one when nothing could be placed together. */
const MAX_SINGLE = 256;

/** Finds a cover for a packing problem. */
export type Coverer = (pack: PackProblem, purse: Purse) => Slices<Packed>;

/** Options of a construction. */
export interface ConstructOptions {
  readonly cover: Coverer;
  /** How many sizes to keep of machines that differ only in size. */
  readonly ladder: number;
  readonly preferenceSlack: number;
  readonly work: Work;
}

/** A finished construction: the state, and the last attempt used for each class. */
export interface Construction {
  readonly state: PlacementState;
  readonly attempt: Int32Array;
}

/** Builds a plan for a model. */
export function* construct(model: Model, options: ConstructOptions): Slices<Construction> {
  const state = new PlacementState(model);
  const attempt = new Int32Array(model.classes.length);
  const order = bySize(model);
  skipHopeless(state, attempt);
  yield;
  for (const level of priorityLevels(model)) {
    const classes = order.filter((podClass) => level === undefined || podClass.priority === level);
    yield* placeLevel(state, attempt, classes, options);
  }
  return { state, attempt };
}

/** Priorities from high to low if capacity is limited. Otherwise one level for all pods, since more nodes can always be launched. */
function priorityLevels(model: Model): (number | undefined)[] {
  const limited = model.problem.pools.some(
    (pool) => pool.limits !== undefined || pool.capacityTypePolicy === 'reserved-only',
  );
  if (!limited && model.catalogue.optionCount > 0) return [undefined];
  return [...new Set(model.classes.map((podClass) => podClass.priority))].sort((a, b) => b - a);
}

/** Sorts classes by priority, then from large to small by their share of the total demand. */
function bySize(model: Model): PodClass[] {
  const total = new Float64Array(model.dimensions.size);
  for (const { requests, pods } of model.classes) {
    for (let column = 0; column < total.length; column++) {
      total[column] = (total[column] as number) + (requests[column] as number) * pods.length;
    }
  }
  const size = model.classes.map(({ requests }) => {
    let sum = 0;
    for (let column = 0; column < total.length; column++) {
      if (total[column] !== 0) sum += (requests[column] as number) / (total[column] as number);
    }
    return sum;
  });
  return [...model.classes].sort(
    (a, b) => b.priority - a.priority || (size[b.index] as number) - (size[a.index] as number) || a.index - b.index,
  );
}

function* placeLevel(
  state: PlacementState,
  attempt: Int32Array,
  classes: readonly PodClass[],
  options: ConstructOptions,
): Slices<void> {
  for (;;) {
    const open = classes.filter((podClass) => (state.remaining[podClass.index] as number) > 0);
    if (open.length === 0) return;
    const before = state.placed;
    if (state.nodeCount > 0) yield* placeOnOpenNodes(state, attempt, open, options.work);
    yield* buyNodes(state, attempt, open, options);
    // Together no pod could be placed; one class may have blocked another.
    if (state.placed === before) yield* buyOneByOne(state, attempt, open, options);
    if (state.placed === before && !advance(state, attempt, open)) return;
  }
}

function attemptOf(attempt: Int32Array, podClass: PodClass): Attempt {
  return podClass.attempts[attempt[podClass.index] as number] as Attempt;
}

function* placeOnOpenNodes(
  state: PlacementState,
  attempt: Int32Array,
  classes: readonly PodClass[],
  work: Work,
): Slices<void> {
  const nodes = new OpenNodes(state);
  for (const podClass of classes) {
    for (const filter of attemptOf(attempt, podClass).nodes) {
      const left = state.remaining[podClass.index] as number;
      if (left > 0) nodes.place(podClass, filter, left);
    }
    if (work.spend(50 + (state.nodeCount >> 4))) yield;
  }
}

/** Skips alternatives that no existing node and no offering can ever satisfy, so that the next ones are packed with the other pods. */
function skipHopeless(state: PlacementState, attempt: Int32Array): void {
  const { model } = state;
  const market = new Market(model, state.purse);
  for (const podClass of model.classes) {
    const { attempts, index } = podClass;
    if (attempts.length === 1) continue;
    const isHopeless = ({ nodes, options }: Attempt): boolean =>
      market.tierOf(podClass, options) < 0 &&
      nodes.every((filter) => isEmpty((model.admitted[filter] as Admitted).nodes));
    let next = 0;
    while (next + 1 < attempts.length && isHopeless(attempts[next] as Attempt)) next++;
    attempt[index] = next;
  }
}

/** Moves classes with pods left to their next alternative; false if no class has one. */
function advance(state: PlacementState, attempt: Int32Array, classes: readonly PodClass[]): boolean {
  let advanced = false;
  for (const { index, attempts } of classes) {
    const next = (attempt[index] as number) + 1;
    if ((state.remaining[index] as number) === 0 || next >= attempts.length) continue;
    attempt[index] = next;
    advanced = true;
  }
  return advanced;
}

function* buyOneByOne(
  state: PlacementState,
  attempt: Int32Array,
  classes: readonly PodClass[],
  options: ConstructOptions,
): Slices<void> {
  const before = state.placed;
  const market = new Market(state.model, state.purse);
  for (const podClass of classes.slice(0, MAX_SINGLE)) {
    yield* buyNodes(state, attempt, [podClass], options, market);
    // If limits allow a node in only some of the planned zones, the zone that still works may not be the first one.
    const many = podClass.domainBound && (state.remaining[podClass.index] as number) > 1;
    if (state.placed === before && many) yield* buyNodes(state, attempt, [podClass], options, market, 1);
    if (state.placed > before) return;
  }
}

/** Opens new nodes for all pods of these classes together. Of each zone-bound class at most `most` pods are placed. */
function* buyNodes(
  state: PlacementState,
  attempt: Int32Array,
  classes: readonly PodClass[],
  options: ConstructOptions,
  market = new Market(state.model, state.purse),
  most = Number.POSITIVE_INFINITY,
): Slices<void> {
  const { model } = state;
  placeBundles(state, market, classes, (podClass) => attemptOf(attempt, podClass).options);
  yield;
  const byTier: PodClass[][] = Array.from({ length: model.tierCount }, () => []);
  for (const podClass of classes) {
    if ((state.remaining[podClass.index] as number) === 0) continue;
    const filter = attemptOf(attempt, podClass).options;
    const tier = podClass.domainBound ? market.places(podClass, filter).tier : market.tierOf(podClass, filter);
    if (tier >= 0) byTier[tier]?.push(podClass);
    if (options.work.spend(podClass.domainBound ? 20 + (model.catalogue.optionCount >> 7) : 4)) yield;
  }
  for (let tier = 0; tier < byTier.length; tier++) {
    const members = byTier[tier] as PodClass[];
    if (members.length === 0) continue;
    const requests = members
      .filter((podClass) => podClass.domainBound)
      .map((podClass) => ({
        podClass,
        count: Math.min(most, state.remaining[podClass.index] as number),
        filter: attemptOf(attempt, podClass).options,
      }));
    const plan = yield* planDomains(model, market, state.copyCounts(), requests, options.preferenceSlack);
    // If most pods may run in any zone, they fill the cheap nodes of each cell, and an exchange gains nothing.
    if (plan.classes.length >= unboundPods(state, members)) {
      yield* exchangeCells(model, market, { plan, requests, tier }, options.work);
    }
    options.work.spend(plan.classes.length * 4);
    yield;
    const parts = gatherParts(state, attempt, members, plan, market, tier);
    if (parts.length === 0) continue;
    yield;
    const pack = buildPackProblem(model, market, parts, { ladder: options.ladder });
    yield;
    yield* carryOut(state, yield* options.cover(pack, state.purse), parts, plan, options.work);
  }
}

function unboundPods({ remaining }: PlacementState, classes: readonly PodClass[]): number {
  return classes.reduce((sum, { domainBound, index }) => sum + (domainBound ? 0 : (remaining[index] as number)), 0);
}

function gatherParts(
  state: PlacementState,
  attempt: Int32Array,
  classes: readonly PodClass[],
  plan: DomainPlan,
  market: Market,
  tier: number,
): RowPart[] {
  const parts: RowPart[] = [];
  const planned = new Map<number, RowPart>();
  const cells = state.model.cellDomains.length;
  for (let position = 0; position < plan.classes.length; position++) {
    const podClass = state.model.classes[plan.classes[position] as number] as PodClass;
    const cell = plan.cells[position] as number;
    const key = podClass.index * cells + cell;
    const known = planned.get(key);
    if (known !== undefined) known.count++;
    else {
      const filter = attemptOf(attempt, podClass).options;
      const places = market.places(podClass, filter);
      const part = { podClass, filter, cell, tier: places.tiers[places.cells.indexOf(cell)] as number, count: 1 };
      planned.set(key, part);
      parts.push(part);
    }
  }
  for (const podClass of classes) {
    if (podClass.domainBound) continue;
    parts.push({
      podClass,
      filter: attemptOf(attempt, podClass).options,
      cell: -1,
      tier,
      count: state.remaining[podClass.index] as number,
    });
  }
  return parts;
}
