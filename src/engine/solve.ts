/** The entry point of the engine: turns a problem into a plan. */
import { lowerBound } from './bound.ts';
import { compileInSlices } from './compile/model.ts';
import { type Construction, construct } from './construct.ts';
import { Explainer } from './explain/reason.ts';
import { columnSearch } from './packing/column-search.ts';
import { searchCover } from './packing/cover-search.ts';
import { initialValues } from './packing/greedy-cover.ts';
import type { PackProblem } from './packing/pack-problem.ts';
import { PodWorth } from './packing/pod-worth.ts';
import { settleCover } from './packing/settle-cover.ts';
import { finish, type Slices, Work } from './packing/work.ts';
import type { Problem, SolveOptions } from './problem.ts';
import { readOut } from './read-out.ts';
import { NodeSizes, rightSize } from './right-size.ts';
import type { Solution, Unplaced, UnplacedReason } from './solution.ts';
import type { PlacementState } from './topology/placement-state.ts';
import { validateOptions, validateProblem } from './validate.ts';

/** The share of the time after which the search for a cheaper plan stops. */
const SEARCHED = 0.8;

/** Places all pods of a problem at the lowest price it can find. */
export function solve(problem: Problem, options: SolveOptions = {}): Solution {
  return finish(solveSteps(problem, options));
}

/** Like `solve`, in slices of a few milliseconds, for callers that must stay responsive: call `next()` until done. */
export function* solveSteps(problem: Problem, options: SolveOptions = {}): Slices<Solution> {
  const work = new Work({
    deadlineMs: options.elapsedMs === undefined ? Number.POSITIVE_INFINITY : (options.deadlineMs ?? 1000),
    maxSteps: options.maxSteps ?? (options.elapsedMs === undefined ? 20_000_000 : Number.POSITIVE_INFINITY),
    elapsedMs: options.elapsedMs,
  });
  validateOptions(options);
  yield* validateProblem(problem);
  const preferenceSlack = options.preferenceSlack ?? 0.1;
  const started = work.elapsed();
  const model = yield* compileInSlices(problem, { preferences: options.preferences ?? true, preferenceSlack });
  yield;
  const compiled = work.elapsed();
  let construction: Construction = yield* construct(model, {
    cover: function* (pack, purse) {
      const cover = yield* searchCover(pack, purse, quickTries(pack), work);
      return yield* settleCover(pack, cover, purse, { values: initialValues(pack), work, until: 0 });
    },
    ladder: 12,
    preferenceSlack,
    work,
  });
  let sizes = new NodeSizes(construction);
  let price = yield* rightSize(construction, sizes, work);
  const constructed = work.elapsed();
  const worth = new PodWorth(model);
  // A better plan takes at least one and a half times as long as the first one.
  const hasTime = !work.over(0.8) && work.hasTimeFor(1.5 * (constructed - compiled));
  if ((options.quality ?? 'balanced') === 'balanced' && hasTime) {
    const second: Construction = yield* construct(model, {
      cover: function* (pack, purse) {
        const start = yield* searchCover(pack, purse, 2, work);
        const { best, values } = yield* columnSearch(pack, purse, start, work);
        worth.learn(pack, values);
        return yield* settleCover(pack, best, purse, { values, work, until: SEARCHED });
      },
      ladder: 20,
      preferenceSlack,
      work,
    });
    const secondSizes = new NodeSizes(second);
    const secondPrice = yield* rightSize(second, secondSizes, work);
    if (
      second.state.placed > construction.state.placed ||
      (second.state.placed === construction.state.placed && secondPrice < price)
    ) {
      construction = second;
      price = secondPrice;
      sizes = secondSizes;
    }
  }
  const improved = work.elapsed();
  const bound = Math.min(price, yield* lowerBound(construction, worth.ofClasses(), work));
  const bounded = work.elapsed();
  const placements = yield* readOut(construction, sizes, work);
  const unplaced = yield* unplacedPods(construction.state, placements.taken);
  const finished = work.elapsed();
  return {
    newNodes: placements.newNodes,
    existing: placements.existing,
    unplaced,
    order: placements.order,
    price: placements.price,
    lowerBound: bound,
    gap: placements.price > 0 ? (placements.price - bound) / placements.price : 0,
    phases: {
      compile: compiled - started,
      construct: constructed - compiled,
      bound: bounded - improved,
      improve: improved - constructed,
      finish: finished - bounded,
    },
    steps: work.steps,
  };
}

/** A second try pays off if the packing problem is small compared with the number of pods. */
function quickTries(pack: PackProblem): number {
  const pods = pack.rows.reduce((sum, row) => sum + row.demand, 0);
  return pack.rows.length * pack.candidates.length > 4 * pods ? 1 : 2;
}

/** The pods that could not be placed, with reasons, by group of the problem. */
function* unplacedPods(state: PlacementState, taken: Int32Array): Slices<Unplaced[]> {
  const { model } = state;
  const byGroup = new Map<number, { pods: number[]; reason: UnplacedReason }>();
  if (state.placed === model.podCount) return [];
  const explainer = new Explainer(state);
  for (const podClass of model.classes) {
    const pods = podClass.pods.subarray(taken[podClass.index] as number);
    if (pods.length === 0) continue;
    const reason = explainer.explain(podClass);
    yield;
    for (const pod of pods) {
      const group = groupOf(model.groupStart, pod);
      const known = byGroup.get(group);
      if (known === undefined) byGroup.set(group, { pods: [pod], reason });
      else known.pods.push(pod);
    }
  }
  return [...byGroup].sort(([a], [b]) => a - b).map(([group, rest]) => ({ group, ...rest }));
}

/** The group a pod belongs to, by binary search over the groups' first pod numbers. */
function groupOf(groupStart: Int32Array, pod: number): number {
  let low = 0;
  let high = groupStart.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((groupStart[middle] as number) <= pod) low = middle;
    else high = middle;
  }
  return low;
}
