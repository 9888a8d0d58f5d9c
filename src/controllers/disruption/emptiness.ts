/** Nodes that no pod needs go, all at once and each for itself. */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { isStaticPool } from '../../apis/karpenter/is-static-pool.ts';
import { type Slices, UNLIMITED, Work } from '../../engine/packing/work.ts';
import type { Clock } from '../../platform/clock.ts';
import { isReschedulable } from '../../state/cluster-state.ts';
import type { Headroom } from '../../state/headroom.ts';
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
  /** The room that CapacityBuffers keep: a node with some of it is not empty. */
  readonly headroom: Pick<Headroom, 'isKnown' | 'on'>;
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
    const { headroom } = this.#options;
    if (!headroom.isKnown) return [];
    const work = new Work(UNLIMITED);
    // A node that pods are on their way to is as good as in use.
    const isIdle = (state: StateNode): boolean =>
      isUnused(state, look) && !look.isNominated(state) && headroom.on(state).length === 0;
    const kept = keptOnDemand(look.nodes, this.#options.policies, isIdle);
    yield;
    const candidates: Candidate[] = [];
    for (const state of look.nodes) {
      if (work.spend(UNITS)) yield;
      if (!this.#isEmpty(state, look) || kept.has(state.name) || headroom.on(state).length > 0) continue;
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
    // A static pool keeps its nodes, used or not.
    if (pool !== undefined && isStaticPool(pool)) return false;
    return consolidatableAt(claim, pool, this.#options.podEvents.latest(state.name)) <= look.now;
  }
}

function isUnused(state: StateNode, look: Look): boolean {
  return !isInFlight(state) && !look.podsOn(state.name).some(isReschedulable);
}
