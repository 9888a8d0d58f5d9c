/** Applies risk and SpotPolicies to plans: risk adjusts the prices before solving, and policies adjust the new nodes afterwards. */

import type { Slices } from '../../engine/packing/work.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { NewNode, Solution } from '../../engine/solution.ts';
import { type SpreadChange, type SpreadGap, spreadSteps } from '../../engine/spot/spread-over-spot-pools.ts';
import type { KeptServices } from '../../state/availability/kept-services.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';
import { isGoing, type StateNode } from '../../state/state-node.ts';
import { atPricesPaid } from './at-prices-paid.ts';
import { poolsToSpread } from './pools-to-spread.ts';
import type { RiskKeeper } from './risk-keeper.ts';
import { withFallbackMark } from './spot-fallback.ts';
import type { SpotPolicies } from './spot-policies.ts';
import { spreadServices } from './spread-services.ts';

export interface SpotPlanningOptions {
  readonly policies: Pick<SpotPolicies, 'for'>;
  readonly risk: Pick<RiskKeeper, 'priced'>;
  /** Services whose spot nodes are spread over spot pools. */
  readonly services?: KeptServices;
  /** The present nodes, which may differ from those of the plan. Default: the nodes of the plan. */
  nodes?(): readonly StateNode[];
}

/** A plan after SpotPolicies were applied. */
export interface SettledPlan {
  /** New nodes have market prices; the total price is still risk-adjusted. */
  readonly solution: Solution;
  /** Changes that policies made. */
  readonly changes: readonly SpreadChange[];
  /** Limits of policies that the plan does not meet. */
  readonly gaps: readonly SpreadGap[];
}

/** Few, because each node has a list of offerings. */
const NODES_PER_SLICE = 50;

export class SpotPlanning {
  readonly #options: SpotPlanningOptions;

  constructor(options: SpotPlanningOptions) {
    this.#options = options;
  }

  /** Instance types of a pool with risk-adjusted prices, weighted by its SpotPolicy. */
  priced(pool: string, types: readonly InstanceType[]): readonly InstanceType[] {
    return this.#options.risk.priced(types, this.#options.policies.for(pool).riskWeight);
  }

  /** Adjusts a plan to the limits of the policies, in slices. */
  *settle(solved: Solution, built: BuiltProblem): Slices<SettledPlan> {
    const { problem, cloudName, snapshot } = built;
    const { pools } = snapshot;
    const solution = yield* this.#spread(solved, built);
    const limits = poolsToSpread({
      policies: this.#options.policies,
      pools: pools.map(({ pool }) => pool),
      nodes: this.#staying(snapshot.nodes),
      instanceTypes: problem.instanceTypes,
      cloudName,
    });
    const { newNodes, changes, gaps } = yield* spreadSteps(solution.newNodes, limits);
    const price = changes.reduce((sum, { from, to }) => sum + to.price - from.price, solution.price);
    // A node that a policy made on-demand is no fallback; one that found no other spot pool may be.
    const byPolicy = new Set(changes.filter(({ rule }) => rule === 'on-demand').map(({ node }) => node));
    const paid: NewNode[] = [];
    for (const [index, node] of newNodes.entries()) {
      const marked = byPolicy.has(index) ? node : withFallbackMark(node, pools, cloudName);
      paid.push(atPricesPaid(marked, pools, cloudName));
      if (index % NODES_PER_SLICE === NODES_PER_SLICE - 1) yield;
    }
    return { solution: { ...solution, newNodes: paid, price }, changes, gaps };
  }

  /** Managed nodes that stay, both now and in the plan: it may be made for nodes that are about to be removed. */
  #staying(planned: readonly StateNode[]): readonly StateNode[] {
    const leave = new Set(planned.filter(isGoing).map(({ claim }) => claim?.metadata.name));
    const nodes = this.#options.nodes?.() ?? planned;
    return nodes.filter((node) => node.claim !== undefined && !isGoing(node) && !leave.has(node.claim.metadata.name));
  }

  *#spread(solution: Solution, built: BuiltProblem): Slices<Solution> {
    const newNodes = yield* spreadServices(solution.newNodes, built, this.#options.services);
    if (newNodes === solution.newNodes) return solution;
    const more = newNodes.reduce((sum, { price }, index) => sum + price - (solution.newNodes[index]?.price ?? 0), 0);
    return { ...solution, newNodes, price: solution.price + more };
  }
}
