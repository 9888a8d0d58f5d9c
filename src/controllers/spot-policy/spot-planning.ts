/** What risk and policies do to a plan: they go into its prices before, and change what its new nodes are bought as after. */

import type { Slices } from '../../engine/packing/work.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { NewNode, Solution } from '../../engine/solution.ts';
import { type SpreadChange, type SpreadGap, spreadSteps } from '../../engine/spot/spread-over-spot-pools.ts';
import type { KeptServices } from '../../state/availability/kept-services.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';
import { isGoing } from '../../state/state-node.ts';
import { atPricesPaid } from './at-prices-paid.ts';
import { poolsToSpread } from './pools-to-spread.ts';
import type { RiskKeeper } from './risk-keeper.ts';
import { withFallbackMark } from './spot-fallback.ts';
import type { SpotPolicies } from './spot-policies.ts';
import { spreadServices } from './spread-services.ts';

export interface SpotPlanningOptions {
  readonly policies: Pick<SpotPolicies, 'for'>;
  readonly risk: Pick<RiskKeeper, 'priced'>;
  /** Services whose spot machines are spread. */
  readonly services?: KeptServices;
}

/** A plan as it is carried out. */
export interface SettledPlan {
  /** Its new nodes have the prices that are paid; its own price is still the one it was planned with. */
  readonly solution: Solution;
  /** What policies changed of it. */
  readonly changes: readonly SpreadChange[];
  /** What of the policies it does not keep. */
  readonly gaps: readonly SpreadGap[];
}

/** Each has a list of offerings. */
const NODES_PER_SLICE = 50;

export class SpotPlanning {
  readonly #options: SpotPlanningOptions;

  constructor(options: SpotPlanningOptions) {
    this.#options = options;
  }

  /** What a pool is sold, with risk in the prices as its policy weighs it. */
  priced(pool: string, types: readonly InstanceType[]): readonly InstanceType[] {
    return this.#options.risk.priced(types, this.#options.policies.for(pool).riskWeight);
  }

  /** Keeps a plan within the limits of the policies, in slices. */
  *settle(solved: Solution, built: BuiltProblem): Slices<SettledPlan> {
    const { problem, cloudName, snapshot } = built;
    const { nodes, pools } = snapshot;
    const solution = yield* this.#spread(solved, built);
    const limits = poolsToSpread({
      policies: this.#options.policies,
      pools: pools.map(({ pool }) => pool),
      // A node that has joined before its claim knows of it is counted by its claim.
      nodes: nodes.filter((node) => node.claim !== undefined && !isGoing(node)),
      instanceTypes: problem.instanceTypes,
      cloudName,
    });
    const { newNodes, changes, gaps } = yield* spreadSteps(solution.newNodes, limits);
    const price = changes.reduce((sum, { from, to }) => sum + to.price - from.price, solution.price);
    // What a policy wants on-demand is no fallback; what found no room in other spot pools may be one.
    const byPolicy = new Set(changes.filter(({ rule }) => rule === 'on-demand').map(({ node }) => node));
    const paid: NewNode[] = [];
    for (const [index, node] of newNodes.entries()) {
      const marked = byPolicy.has(index) ? node : withFallbackMark(node, pools, cloudName);
      paid.push(atPricesPaid(marked, pools, cloudName));
      if (index % NODES_PER_SLICE === NODES_PER_SLICE - 1) yield;
    }
    return { solution: { ...solution, newNodes: paid, price }, changes, gaps };
  }

  *#spread(solution: Solution, built: BuiltProblem): Slices<Solution> {
    const newNodes = yield* spreadServices(solution.newNodes, built, this.#options.services);
    if (newNodes === solution.newNodes) return solution;
    const more = newNodes.reduce((sum, { price }, index) => sum + price - (solution.newNodes[index]?.price ?? 0), 0);
    return { ...solution, newNodes, price: solution.price + more };
  }
}
