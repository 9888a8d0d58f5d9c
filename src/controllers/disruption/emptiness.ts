/** Deletes nodes without reschedulable pods, each by a command of its own. */
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
import { alone } from './unit.ts';
import { withinBudgets } from './within-budgets.ts';

export interface EmptinessOptions {
  readonly clock: Clock;
  readonly metrics: DisruptionMetrics;
  /** The latest pod event of a node that is not on its claim yet. */
  readonly podEvents: Pick<PodEvents, 'latest'>;
  /** A SpotPolicy may require on-demand nodes that run no pods yet. */
  readonly policies: Pick<SpotPolicies, 'for'>;
  /** The room that CapacityBuffers reserve: a node with some of it is not empty. */
  readonly headroom: Pick<Headroom, 'isKnown' | 'on'>;
}

/** The work of one node, in units of the engine of a few hundred nanoseconds. */
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
    // One command per node: a node that is used again by then does not hold up the others.
    return withinBudgets(candidates.map(alone), this.reason, look).map((unit) => ({
      ...{ id: look.newId(), reason: this.reason, disruption: 'graceful', candidates: unit.candidates },
      ...{ newNodes: [], needs: [], receivers: [] },
    }));
  }

  *#candidates(look: Look): Slices<readonly Candidate[]> {
    const { headroom } = this.#options;
    if (!headroom.isKnown) return [];
    const work = new Work(UNLIMITED);
    // A node that pods are about to be scheduled to counts as used.
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

  /** Checks the time too: the condition Consolidatable may be older than the latest pod event. */
  #isEmpty(state: StateNode, look: Look): boolean {
    const { claim } = state;
    if (claim === undefined || !isTrue(claim, 'Consolidatable') || !isUnused(state, look)) return false;
    const pool = look.poolNamed.get(poolOf(state) ?? '');
    // A static pool keeps its nodes also when they are empty.
    if (pool !== undefined && isStaticPool(pool)) return false;
    return consolidatableAt(claim, pool, this.#options.podEvents.latest(state.name)) <= look.now;
  }
}

function isUnused(state: StateNode, look: Look): boolean {
  return !isInFlight(state) && !look.podsOn(state.name).some(isReschedulable);
}
