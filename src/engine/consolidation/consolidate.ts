/** Consolidation's entry: from a fleet to the moves that make it cheaper. */
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
import { Planner } from './planner.ts';
import { rebuild } from './rebuild.ts';
import { keptSentence } from './sentences.ts';
import { validateFleet } from './validate-fleet.ts';

/** What the move of a pod must save, as a share of what a pod costs: to move all pods of a fleet is worth it for this share of its price. */
const MOVE_PRICE = 0.1;
/** For less than this nobody plans anew: its machines all wait for each other. */
const REBUILD_SAVES_AT_LEAST = 0.01;
/**
 * What a pod counts that is moved by exchanges: the scheduler puts many of them elsewhere than planned, so the fleet comes out dearer
 * than planned, and others move to mend that.
 */
const EXCHANGED = 2;
/**
 * Of wasteful nodes so much may stay and be filled up, as a share of what all pods are worth: none, or as much as leaves it to new
 * nodes to make up for what does not go well together.
 */
const KEPT = [0, 0.4, 0.6];

/** Plans the consolidation of a fleet. */
export function consolidate(fleet: Fleet, options: ConsolidationOptions = {}): ConsolidationPlan {
  return finish(consolidateSteps(fleet, options));
}

/** The same in slices of a few milliseconds, for callers that must stay responsive: call `next()` until done. */
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
  // Exchanges that build on each other cannot always be done one by one; those that do not, can.
  if ([...best.leftOut.values()].some(({ kind }) => kind === 'order')) {
    const direct = yield* attempt(market, options, work, 'direct');
    if (saved(direct.moves) > saved(best.moves)) best = direct;
  }
  const { lowerBound, podWorth } = market;
  const price = fleet.nodes.reduce((sum, node) => sum + node.price, 0);
  const changeable = price - saved(best.moves) - market.stayingPrice;
  const { movePrice = MOVE_PRICE } = options;
  const eachMove = (movePrice * podWorth.reduce((sum, each) => sum + each, 0)) / fleet.pods.length;
  const { planner: exchanges, moves: exchanged } = best;
  const wanted = (evictions: number): number => {
    const more = eachMove * (evictions - EXCHANGED * evicted(exchanged));
    return saved(exchanged) + Math.max(REBUILD_SAVES_AT_LEAST * changeable, more);
  };
  if (!exchanges.unfinished && price - lowerBound >= wanted(0)) {
    for (const keep of movePrice > 0 ? KEPT : [0]) {
      const anew = yield* attempt(market, options, work, 'rebuild', wanted, keep);
      if (saved(anew.moves) < wanted(evicted(anew.moves))) continue;
      const gain = saved(anew.moves) - saved(best.moves) - eachMove * (evicted(anew.moves) - evicted(best.moves));
      if (best.way !== 'rebuild' || gain > 0) best = { ...anew, planner: exchanges };
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

/** A fleet, and what its pods are worth at the prices of what could be bought instead. */
interface ValuedFleet {
  readonly compiled: CompiledFleet;
  readonly prices: Float64Array;
  readonly lowerBound: number;
  /** Of the nodes that may not go. */
  readonly stayingPrice: number;
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
  return { compiled, prices, lowerBound, stayingPrice, podWorth, ladder: new MarketLadder(compiled.model, prices) };
}

/** Plans exchanges and puts them in an order in which they can be done. */
function* attempt(
  { compiled, prices, podWorth, ladder }: ValuedFleet,
  options: ConsolidationOptions,
  work: Work,
  way: Way,
  wanted: (evictions: number) => number = () => 0,
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
    { mergeSize: options.mergeSize ?? 8, prices, work, direct },
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

/** The move, with those of its nodes named that are to be filled as planned. */
function filling(move: Move, filled: ReadonlySet<string>): Move {
  const fills = new Set(move.landings.flatMap((one) => ('node' in one && filled.has(one.node) ? [one.node] : [])));
  return fills.size === 0 ? move : { ...move, fills: [...fills] };
}

function saved(moves: readonly Move[]): number {
  return moves.reduce((sum, { savings }) => sum + savings, 0);
}

function evicted(moves: readonly Move[]): number {
  return moves.reduce((sum, { landings }) => sum + landings.length, 0);
}

function priceCause({ price }: FleetNode): KeptCause {
  return { kind: 'price', price, cheapest: price };
}
