/** Nodes that no pod needs go, all at once. */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { NEVER } from '../../apis/karpenter/duration.ts';
import { isReschedulable } from '../../state/cluster-state.ts';
import type { StateNode } from '../../state/state-node.ts';
import type { Command } from './commands/command.ts';
import type { Look } from './look.ts';
import type { DisruptionMethod } from './method.ts';
import type { DisruptionMetrics } from './metrics.ts';
import { withinBudgets } from './within-budgets.ts';

export class Emptiness implements DisruptionMethod {
  readonly name = 'emptiness';
  readonly reason = 'Empty';
  readonly places = false;
  readonly #metrics: DisruptionMetrics;

  constructor({ metrics }: { readonly metrics: DisruptionMetrics }) {
    this.#metrics = metrics;
  }

  async plan(look: Look): Promise<readonly Command[]> {
    const candidates = look.nodes
      .filter((state) => isEmpty(state, look))
      .flatMap((state) => look.candidate(state, 'graceful') ?? [])
      .filter(({ pool }) => pool.spec.disruption.consolidateAfter !== NEVER);
    this.#metrics.eligible(this.reason, candidates.length);
    const allowed = withinBudgets(candidates, this.reason, look);
    if (allowed.length === 0) return [];
    const nothing = { newNodes: [], needs: [], receivers: [] };
    return [{ id: look.newId(), reason: 'Empty', disruption: 'graceful', candidates: allowed, ...nothing }];
  }
}

function isEmpty({ name, claim }: StateNode, look: Look): boolean {
  return claim !== undefined && isTrue(claim, 'Consolidatable') && !look.podsOn(name).some(isReschedulable);
}
