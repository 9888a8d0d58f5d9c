/** Consolidation metrics, with Karpenter's names and labels where it has them. */
import type { Fleet } from '../../../engine/consolidation/fleet.ts';
import type { ConsolidationPlan } from '../../../engine/consolidation/plan.ts';
import type { Slices } from '../../../engine/packing/work.ts';
import type { Metrics } from '../../../platform/metrics.ts';
import { consolidationPolicyLabel } from '../consolidation-policy-label.ts';
import type { PlannedMove } from './commands-of-plan.ts';
import { poolScores } from './pool-scores.ts';

const SCORES = [0.1, 0.25, 0.33, 0.5, 1, 2, 5, 10];

/** Yields after this many moves. */
const COUNTED_TOGETHER = 200;

export class ConsolidationMetrics {
  readonly #scores;
  readonly #moves;
  readonly #timeouts;
  readonly #price;

  constructor(metrics: Metrics) {
    const labels = ['decision', 'nodepool', 'policy'] as const;
    this.#scores = metrics.histogram({
      name: 'karpenter_consolidation_score',
      help: 'Share of the NodePool’s price that a move saves, divided by the share of the NodePool that it disrupts, per decision, NodePool and policy',
      labels,
      buckets: SCORES,
    });
    this.#moves = metrics.counter({
      name: 'karpenter_consolidation_moves_total',
      help: 'Consolidation moves approved or rejected, per decision, NodePool and policy',
      labels,
    });
    this.#timeouts = metrics.counter({
      name: 'karpenter_voluntary_disruption_consolidation_timeouts_total',
      help: 'Consolidation plans cut short because time ran out, per consolidation type',
      labels: ['consolidation_type'],
      initial: [{ consolidation_type: 'multi' }],
    });
    this.#price = metrics.gauge({
      name: 'spindrift_consolidation_price_dollars_per_hour',
      help: 'The price of all nodes now, after all moves of the latest plan, and the lower bound (bound: now, plan, lower)',
      labels: ['bound'],
    });
  }

  /** Records a plan, and the nodes whose removal a Balanced pool rejects. */
  planned(plan: ConsolidationPlan, fleet: Fleet): void {
    if (!plan.complete) this.#timeouts.add({ consolidation_type: 'multi' });
    this.#price.set({ bound: 'now' }, plan.priceBefore);
    this.#price.set({ bound: 'plan' }, plan.priceAfter);
    this.#price.set({ bound: 'lower' }, plan.lowerBound);
    const poolOf = new Map(fleet.nodes.map(({ name, pool }) => [name, pool ?? '']));
    for (const { node, cause } of plan.kept)
      if (cause.kind === 'balanced') this.#decided('rejected', poolOf.get(node) ?? '', cause.score, fleet);
  }

  /** Records moves that have begun; in slices. */
  *begun(moves: readonly PlannedMove[], fleet: Fleet): Slices<void> {
    const scoresOf = poolScores(fleet);
    for (const [index, { move }] of moves.entries()) {
      if (index % COUNTED_TOGETHER === 0) yield;
      for (const [pool, score] of scoresOf(move)) this.#decided('approved', pool, score, fleet);
    }
  }

  #decided(decision: 'approved' | 'rejected', nodepool: string, score: number, { poolDisruption }: Fleet): void {
    const policy = poolDisruption.find(({ pool }) => pool === nodepool)?.policy ?? '';
    const labels = { decision, nodepool, policy: consolidationPolicyLabel(policy) };
    this.#moves.add(labels);
    this.#scores.observe(labels, score);
  }
}
