/** What consolidation finds; names and labels are Karpenter's where it has the metric. */
import type { Fleet } from '../../../engine/consolidation/fleet.ts';
import type { ConsolidationPlan } from '../../../engine/consolidation/plan.ts';
import type { Slices } from '../../../engine/packing/work.ts';
import type { Metrics } from '../../../platform/metrics.ts';
import type { PlannedMove } from './commands-of-plan.ts';
import { poolScores } from './pool-scores.ts';

const SCORES = [0.1, 0.25, 0.33, 0.5, 1, 2, 5, 10];

/** So many moves are counted before others may run. */
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
      help: 'The share of its pool’s price that a move saves against the share of the pool that it disrupts, per decision, pool and policy',
      labels,
      buckets: SCORES,
    });
    this.#moves = metrics.counter({
      name: 'karpenter_consolidation_moves_total',
      help: 'Moves that were found worth it or not, per decision, pool and policy',
      labels,
    });
    this.#timeouts = metrics.counter({
      name: 'karpenter_voluntary_disruption_consolidation_timeouts_total',
      help: 'Plans that were cut short because time ran out, per kind of consolidation',
      labels: ['consolidation_type'],
      initial: [{ consolidation_type: 'multi' }],
    });
    this.#price = metrics.gauge({
      name: 'spindrift_consolidation_price_dollars_per_hour',
      help: 'The price of all nodes now, after all moves of the latest plan, and the lower bound (bound: now, plan, lower)',
      labels: ['bound'],
    });
  }

  /** What a plan comes to, and the nodes that stay because a Balanced pool finds their end not worth it. */
  planned(plan: ConsolidationPlan, fleet: Fleet): void {
    if (!plan.complete) this.#timeouts.add({ consolidation_type: 'multi' });
    this.#price.set({ bound: 'now' }, plan.priceBefore);
    this.#price.set({ bound: 'plan' }, plan.priceAfter);
    this.#price.set({ bound: 'lower' }, plan.lowerBound);
    const poolOf = new Map(fleet.nodes.map(({ name, pool }) => [name, pool ?? '']));
    for (const { node, cause } of plan.kept)
      if (cause.kind === 'balanced') this.#decided('rejected', poolOf.get(node) ?? '', cause.score, fleet);
  }

  /** Moves that have begun; in slices. */
  *begun(moves: readonly PlannedMove[], fleet: Fleet): Slices<void> {
    const scoresOf = poolScores(fleet);
    for (const [index, { move }] of moves.entries()) {
      if (index % COUNTED_TOGETHER === 0) yield;
      for (const [pool, score] of scoresOf(move)) this.#decided('approved', pool, score, fleet);
    }
  }

  #decided(decision: 'approved' | 'rejected', nodepool: string, score: number, { poolDisruption }: Fleet): void {
    const policy = poolDisruption.find(({ pool }) => pool === nodepool)?.policy ?? '';
    const labels = { decision, nodepool, policy: snake(policy) };
    this.#moves.add(labels);
    this.#scores.observe(labels, score);
  }
}

function snake(policy: string): string {
  return policy.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
