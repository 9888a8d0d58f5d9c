/** The entry point of consolidation: turns a fleet into the moves that make it cheaper. */
import { finish, type Slices, Work } from '../packing/work.ts';
import { unitPrices, worth } from '../unit-prices.ts';
import { Allowances } from './allowances.ts';
import { type CompiledFleet, compileFleet } from './compiled-fleet.ts';
import { componentsOf } from './components.ts';
import { Criteria } from './criteria.ts';
import { Executor } from './execution.ts';
import type { ConsolidationOptions, Fleet, FleetNode } from './fleet.ts';
import { fleetBound, movableDemand } from './fleet-bound.ts';
import { FleetState } from './fleet-state.ts';
import { MarketLadder } from './market-ladder.ts';
import { NewNodes } from './new-nodes.ts';
import type { ConsolidationPlan, KeptCause, KeptNode, Move, Way } from './plan.ts';
import { disturbance, evicted, PlanValue, saved } from './plan-value.ts';
import { Planner } from './planner.ts';
import { type RebuildParts, rebuild, WASTED } from './rebuild.ts';
import { keptSentence } from './sentences.ts';
import { validateFleet } from './validate-fleet.ts';

/** Other ways than exchanges are tried if at least this share remains between the price and its lower bound. */
const WORTH_ANOTHER_WAY = 0.01;
/**
 * Resizing wasteful nodes first is tried only if they are less than this share of the fleet's price; otherwise they take
 * each other's pods.
 */
const FEW = 0.5;
/** How much more than exchanges a rebuild must save, as a share of the price of the removed nodes: all its nodes wait for each other. */
const REBUILD_SAVES_AT_LEAST = 0.01;
/**
 * What the wasteful nodes that a rebuild keeps and fills up may cost, as a share of the value of all pods on wasteful
 * nodes. None, or so much that enough new nodes remain to balance pods that do not fit together well.
 */
const KEPT = [0, 0.4, 0.6];

/** Plans the consolidation of a fleet. */
export function consolidate(fleet: Fleet, options: ConsolidationOptions = {}): ConsolidationPlan {
  return finish(consolidateSteps(fleet, options));
}

/** Like `consolidate`, in slices of a few milliseconds, for callers that must stay responsive: call `next()` until done. */
export function* consolidateSteps(fleet: Fleet, options: ConsolidationOptions = {}): Slices<ConsolidationPlan> {
  const work = new Work({
    deadlineMs: options.deadlineMs ?? Number.POSITIVE_INFINITY,
    maxSteps: options.maxSteps ?? Number.POSITIVE_INFINITY,
    elapsedMs: options.elapsedMs,
  });
  yield* validateFleet(fleet, work);
  yield;
  const compiled = yield* compileFleet(fleet, work);
  yield;
  const market = yield* valued(compiled, options, work);
  let best = yield* attempt(market, options, work, 'exchanges');
  const { lowerBound, podWorth, value } = market;
  // Exchanges that build on each other cannot always be done one by one; direct ones can.
  if ([...best.leftOut.values()].some(({ kind }) => kind === 'order')) {
    const direct = yield* attempt(market, options, work, 'direct');
    if (value.saves(direct) > value.saves(best)) best = direct;
  }
  const price = fleet.nodes.reduce((sum, node) => sum + node.price, 0);
  const changeable = price - saved(best.moves) - market.stayingPrice;
  if (!best.planner.unfinished && price - saved(best.moves) - lowerBound >= WORTH_ANOTHER_WAY * changeable) {
    if (market.wasteful < FEW) {
      const resized = yield* attempt(market, options, work, 'resized');
      if (!resized.planner.unfinished && value.gain(resized) > value.gain(best)) best = resized;
    }
    const exchanged = best;
    const wanted = (evictions: number, leaving: number): number => {
      const more = value.eachMove * (evictions - disturbance(exchanged.moves));
      const beyond = Math.max(REBUILD_SAVES_AT_LEAST * Math.min(changeable, leaving), more);
      return value.saves(exchanged) + beyond - market.savedSoon;
    };
    for (const keep of value.eachMove > 0 ? KEPT : [0]) {
      const anew = yield* attempt(market, options, work, 'rebuild', wanted, keep);
      const enough = saved(anew.moves) >= wanted(evicted(anew.moves), leavingPrice(fleet, anew.moves));
      if (anew.moves.length > 0 && enough && (best.way !== 'rebuild' || value.gain(anew) > value.gain(best)))
        best = { ...anew, planner: exchanged.planner };
    }
  }
  const { way, allowances, planner, state, moves, leftOut } = best;

  const kept: KeptNode[] = [];
  for (const [index, node] of fleet.nodes.entries()) {
    if (state.gone[index] === 1) continue;
    const cause: KeptCause =
      allowances.blocked(index) ??
      leftOut.get(index) ??
      (planner.unfinished ? { kind: 'unfinished' } : (planner.steps.cause(index) ?? priceCause(node)));
    const used = allowances.homePods(index).reduce((sum, pod) => sum + (podWorth[pod] as number), 0);
    const wouldSave = Math.max(0, node.price - used);
    kept.push({ node: node.name, cause, wouldSave, sentence: keptSentence(node.name, cause) });
    if (work.spend(30)) yield;
  }
  return {
    moves,
    kept,
    priceBefore: price,
    priceAfter: moves.reduce((sum, { savings }) => sum - savings, price),
    lowerBound,
    evictions: evicted(moves),
    complete: !planner.unfinished,
    way,
    steps: work.steps,
  };
}

/** A fleet, and the value of its pods at the prices of the offerings available. */
interface ValuedFleet {
  readonly compiled: CompiledFleet;
  readonly prices: Float64Array;
  readonly lowerBound: number;
  /** Price of the nodes that may not be removed. */
  readonly stayingPrice: number;
  /** The share of the fleet's price paid for nodes that waste much of their price. */
  readonly wasteful: number;
  readonly value: PlanValue;
  /** What nodes that may be removed soon will save if the plan leaves them alone. */
  readonly savedSoon: number;
  readonly podWorth: Float64Array;
  readonly ladder: MarketLadder;
}

function* valued(compiled: CompiledFleet, options: ConsolidationOptions, work: Work): Slices<ValuedFleet> {
  const state = new FleetState(compiled);
  yield* state.settle(work);
  const allowances = new Allowances(compiled, options);
  yield* allowances.load(work);
  yield;
  const stays = (node: number): boolean => allowances.blocked(node) !== undefined;
  const prices = unitPrices(compiled.model, movableDemand(state, stays));
  yield;
  const lowerBound = fleetBound(state, stays, prices);
  const stayingPrice = compiled.fleet.nodes.reduce((sum, { price }, node) => (stays(node) ? sum + price : sum), 0);
  yield;
  const classWorth = Float64Array.from(compiled.model.classes, ({ requests }) => worth(prices, requests));
  const podWorth = Float64Array.from(compiled.podClass, (index) => classWorth[index] as number);
  yield;
  const value = new PlanValue(compiled.fleet, podWorth, options);
  const ladder = new MarketLadder(compiled.model, prices);
  const priceOf = (nodes: readonly FleetNode[]): number => nodes.reduce((sum, { price }) => sum + price, 0);
  const { nodes } = compiled.fleet;
  const wasteful =
    priceOf(nodes.filter(({ price }, node) => value.waste(state, node) > WASTED * price)) / priceOf(nodes);
  const soon = { wasteful, savedSoon: value.savedSoon(state) };
  return { compiled, prices, lowerBound, stayingPrice, podWorth, value, ladder, ...soon };
}

/** Plans exchanges and puts them into an order in which they can be done. */
function* attempt(
  { compiled, prices, podWorth, ladder }: ValuedFleet,
  options: ConsolidationOptions,
  work: Work,
  way: Way,
  wanted: RebuildParts['wanted'] = () => 0,
  keep = 0,
) {
  const direct = way === 'direct';
  const planned = new FleetState(compiled);
  yield* planned.settle(work);
  const allowances = new Allowances(compiled, options);
  yield* allowances.load(work);
  yield;
  const criteria = new Criteria(planned, allowances, ladder, options);
  const newNodes = new NewNodes(planned, ladder, podWorth);
  const planner = new Planner(
    { state: planned, allowances, criteria, ladder, newNodes, podWorth },
    { mergeSize: options.mergeSize ?? 8, prices, work, direct, resizeFirst: way === 'resized' },
  );
  const { together, stepOf } = planner.steps;
  let filled: ReadonlySet<string> = new Set();
  if (way === 'rebuild') {
    const rebuilt = yield* rebuild({ state: planned, allowances, prices, podWorth, options, work, wanted, keep });
    together.join(rebuilt.exchanged);
    filled = new Set([...rebuilt.filled].map((node) => compiled.fleet.nodes[node]?.name ?? ''));
  } else yield* planner.run();

  const state = new FleetState(compiled);
  yield* state.settle(work);
  const parts = { state, planned, allowances, criteria, ladder, podWorth };
  const executor = new Executor(direct ? { ...parts, stepOf } : parts);
  const components = componentsOf(planned, together);
  yield;
  const { moves, leftOut } = yield* executor.run(components, work);
  return { way, allowances, planner, state, moves: moves.map((move) => filling(move, filled)), leftOut };
}

/** Names the nodes of the move that must be filled as planned. */
function filling(move: Move, filled: ReadonlySet<string>): Move {
  const fills = new Set(move.landings.flatMap((one) => ('node' in one && filled.has(one.node) ? [one.node] : [])));
  return fills.size === 0 ? move : { ...move, fills: [...fills] };
}

/** Price of the removed nodes. */
function leavingPrice({ nodes }: Fleet, moves: readonly Move[]): number {
  const leaving = new Set(moves.flatMap((move) => move.nodes));
  return nodes.reduce((sum, { name, price }) => (leaving.has(name) ? sum + price : sum), 0);
}

function priceCause({ price }: FleetNode): KeptCause {
  return { kind: 'price', price, cheapest: price };
}
