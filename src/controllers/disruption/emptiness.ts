/** Nodes that no pod needs go, all at once. */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { NEVER } from '../../apis/karpenter/duration.ts';
import { isReschedulable } from '../../state/cluster-state.ts';
import { isInFlight, type StateNode } from '../../state/state-node.ts';
import { keptOnDemand } from '../spot-policy/kept-on-demand.ts';
import type { SpotPolicies } from '../spot-policy/spot-policies.ts';
import type { Command } from './commands/command.ts';
import type { Look } from './look.ts';
import type { DisruptionMethod } from './method.ts';
import type { DisruptionMetrics } from './metrics.ts';
import { withinBudgets } from './within-budgets.ts';

export interface EmptinessOptions {
  readonly metrics: DisruptionMetrics;
  /** They may ask for on-demand nodes that nobody uses yet. */
  readonly policies: Pick<SpotPolicies, 'for'>;
}

export class Emptiness implements DisruptionMethod {
  readonly name = 'emptiness';
  readonly reason = 'Empty';
  readonly places = false;
  readonly #options: EmptinessOptions;

  constructor(options: EmptinessOptions) {
    this.#options = options;
  }

  async plan(look: Look): Promise<readonly Command[]> {
    const { metrics, policies } = this.#options;
    const kept = keptOnDemand(look.nodes, policies, (state) => isUnused(state, look));
    const candidates = look.nodes
      .filter((state) => isEmpty(state, look) && !kept.has(state.name))
      .flatMap((state) => look.candidate(state, 'graceful') ?? [])
      .filter(({ pool }) => pool.spec.disruption.consolidateAfter !== NEVER);
    metrics.eligible(this.reason, candidates.length);
    const allowed = withinBudgets(candidates, this.reason, look);
    if (allowed.length === 0) return [];
    const nothing = { newNodes: [], needs: [], receivers: [] };
    return [{ id: look.newId(), reason: 'Empty', disruption: 'graceful', candidates: allowed, ...nothing }];
  }
}

function isEmpty(state: StateNode, look: Look): boolean {
  return state.claim !== undefined && isTrue(state.claim, 'Consolidatable') && isUnused(state, look);
}

function isUnused(state: StateNode, look: Look): boolean {
  return !isInFlight(state) && !look.podsOn(state.name).some(isReschedulable);
}
