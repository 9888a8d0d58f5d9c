/** Nodes that no pod needs go, all at once and each for itself. */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { type Slices, UNLIMITED, Work } from '../../engine/packing/work.ts';
import type { Clock } from '../../platform/clock.ts';
import { isReschedulable } from '../../state/cluster-state.ts';
import { consolidatableAt } from '../../state/node-hold.ts';
import { isInFlight, poolOf, type StateNode } from '../../state/state-node.ts';
import { inSlices } from '../in-slices.ts';
import type { PodEvents } from '../nodeclaim/podevents/pod-events.ts';
import { keptOnDemand } from '../spot-policy/kept-on-demand.ts';
import type { SpotPolicies } from '../spot-policy/spot-policies.ts';
import type { Candidate } from './candidate.ts';
import type { Command } from './commands/command.ts';
import type { Look } from './look.ts';
import type { DisruptionMethod } from './method.ts';
import type { DisruptionMetrics } from './metrics.ts';
import { withinBudgets } from './within-budgets.ts';

export interface EmptinessOptions {
  readonly clock: Clock;
  readonly metrics: DisruptionMetrics;
  /** When pods last came and left, where claims do not tell of that yet. */
  readonly podEvents: Pick<PodEvents, 'latest'>;
  /** They may ask for on-demand nodes that nobody uses yet. */
  readonly policies: Pick<SpotPolicies, 'for'>;
}

/** A unit of the engine's work is a few hundred nanoseconds; this is what a node takes here. */
const UNITS = 10;

export class Emptiness implements DisruptionMethod {
  readonly name = 'emptiness';
  readonly reason = 'Empty';
  readonly places = false;
  readonly #options: EmptinessOptions;

  constructor(options: EmptinessOptions) {
    this.#options = options;
  }

  async plan(look: Look, signal: AbortSignal): Promise<readonly Command[]> {
    const { metrics, clock } = this.#options;
    const candidates = await inSlices(this.#candidates(look), clock, signal);
    metrics.eligible(this.reason, candidates.length);
    // Each for itself: a node that is used again by then keeps no other.
    return withinBudgets(candidates, this.reason, look).map((candidate) => ({
      ...{ id: look.newId(), reason: this.reason, disruption: 'graceful', candidates: [candidate] },
      ...{ newNodes: [], needs: [], receivers: [] },
    }));
  }

  *#candidates(look: Look): Slices<readonly Candidate[]> {
    const work = new Work(UNLIMITED);
    // A node that pods are on their way to is as good as in use.
    const isIdle = (state: StateNode): boolean => isUnused(state, look) && !look.isNominated(state);
    const kept = keptOnDemand(look.nodes, this.#options.policies, isIdle);
    yield;
    const candidates: Candidate[] = [];
    for (const state of look.nodes) {
      if (work.spend(UNITS)) yield;
      if (!this.#isEmpty(state, look) || kept.has(state.name)) continue;
      const candidate = look.candidate(state, 'graceful');
      if (candidate !== undefined) candidates.push(candidate);
    }
    return candidates;
  }

  /** What the claim says of itself may be from before its last pod left. */
  #isEmpty(state: StateNode, look: Look): boolean {
    const { claim } = state;
    if (claim === undefined || !isTrue(claim, 'Consolidatable') || !isUnused(state, look)) return false;
    const pool = look.poolNamed.get(poolOf(state) ?? '');
    return consolidatableAt(claim, pool, this.#options.podEvents.latest(state.name)) <= look.now;
  }
}

function isUnused(state: StateNode, look: Look): boolean {
  return !isInFlight(state) && !look.podsOn(state.name).some(isReschedulable);
}
