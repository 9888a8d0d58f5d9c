/**
 * Makes the fleet cheaper: plans moves over all nodes at once, and gives those that can be begun now.
 *
 * It plans only on settled ground: when every pod that lost or will lose its place has been given another by a round of
 * provisioning, so that the nodes it is promised to are known, and when pods that have just become pending have had their
 * round. Where nothing has changed since a plan that found nothing, it does not look again until time itself changes
 * something.
 */
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import { ANNOTATION_REPLACES } from '../../../apis/spindrift/annotations.ts';
import type { CloudProvider } from '../../../cloud/provider.ts';
import { consolidateSteps } from '../../../engine/consolidation/consolidate.ts';
import type { Fleet, ConsolidationOptions as PlanOptions } from '../../../engine/consolidation/fleet.ts';
import { forecast } from '../../../engine/consolidation/forecast.ts';
import type { ConsolidationPlan } from '../../../engine/consolidation/plan.ts';
import type { Slices } from '../../../engine/packing/work.ts';
import type { EventRecorder } from '../../../kube/event-recorder.ts';
import { type Clock, type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { type Logger, SILENT_LOGGER } from '../../../platform/logger.ts';
import type { Metrics } from '../../../platform/metrics.ts';
import { type BuiltFleet, buildFleetSteps, type FleetSnapshot } from '../../../state/build-fleet.ts';
import { type ClusterState, isReschedulable } from '../../../state/cluster-state.ts';
import { PodFactsCache } from '../../../state/pod-facts.ts';
import { isComing, isGoing } from '../../../state/state-node.ts';
import type { UsablePool } from '../../../state/usable-pool.ts';
import { inSlices } from '../../in-slices.ts';
import type { PodEvents } from '../../nodeclaim/podevents/pod-events.ts';
import type { Rounds } from '../../provisioning/rounds.ts';
import type { SpotPolicies } from '../../spot-policy/spot-policies.ts';
import { withPods } from '../candidate.ts';
import type { Command } from '../commands/command.ts';
import type { Look } from '../look.ts';
import type { DisruptionMethod } from '../method.ts';
import { Caution } from './caution.ts';
import { ChangeStamp } from './change-stamp.ts';
import {
  type CommandParts,
  commandsOfPlan,
  type FollowingMove,
  type PlannedCommands,
  type PlannedMove,
} from './commands-of-plan.ts';
import { consolidationApproved, consolidationRejected, unconsolidatable } from './events.ts';
import { fleetSnapshot } from './fleet-snapshot.ts';
import { ConsolidationMetrics } from './metrics.ts';
import { type Objection, Validation } from './validation.ts';
import { withinPolicies } from './within-policies.ts';

/** How hard to look, and how long to leave things alone. */
export interface ConsolidationLimits {
  /** How long a node that took the place of others is left in peace. */
  readonly cooldownMs?: number;
  /** How long a plan may be looked for. */
  readonly planMs?: number;
  /** How much work may go into it, whatever the time: on a virtual clock no time passes while it works. */
  readonly planSteps?: number;
  readonly criteria?: Pick<PlanOptions, 'minSavings' | 'minSavingsShare' | 'minSavingsPerDisruption' | 'spotDiversity'>;
}

export interface ConsolidationOptions extends ConsolidationLimits {
  readonly clock: Clock;
  readonly state: ClusterState;
  readonly provider: Pick<CloudProvider, 'labels'>;
  readonly recorder: EventRecorder;
  readonly metrics: Metrics;
  readonly logger?: Logger;
  readonly rounds: Pick<Rounds, 'covers'>;
  readonly podEvents: Pick<PodEvents, 'latest'>;
  /** How each pool uses spot capacity. */
  readonly policies: Pick<SpotPolicies, 'for'>;
}

/** A round of provisioning gathers pods and finds places for them within this time. */
export const ROUND_MS = 12_000;
/** Where pods come all the time, consolidation goes on all the same. */
const LONGEST_WAIT_MS = 60_000;
const LOOK_AGAIN_MS = 1000;
/** So long the moves that were begun together are waited for before there are others. */
const LONGEST_WAVE_MS = 300_000;
/** What nobody tells us about is seen at the latest then. */
const FORGOTTEN_MS = 300_000;
/** Nobody tells us that a node is no longer kept for pods that were to come. */
const NOMINATED_MS = 10_000;
/** Claims that are not there by then will not come. */
const LONGEST_FOLLOWING_MS = 20_000;
/**
 * Nodes that may be looked at so soon are waited for if they are more than a few, but not for ever: what a plan has to leave alone
 * it cannot plan anew, and a tenth of the nodes is enough to make exchanges the better way.
 */
const MOMENT_MS = 10_000;
const MANY = 0.02;
/** Nobody says when the pods have come that a node is kept for. */
const NOMINATED_AGAIN_MS = 2000;
const LONGEST_GATHERING_MS = 30_000;
/** So many moves are checked before others may run. */
const CHECKED_TOGETHER = 20;
/** So many moves are told of before others may run. */
const TOLD_TOGETHER = 100;
/** The events of one plan that say why nodes stay. */
const MOST_EVENTS = 50;

/** Moves of the latest plan that wait for claims of others. */
interface Following {
  readonly moves: readonly FollowingMove[];
  readonly built: BuiltFleet;
  readonly since: number;
}

/** The state of things when a plan found nothing to do. */
interface Nothing {
  readonly stamp: number;
  readonly sold: readonly (readonly unknown[])[];
  readonly until: number;
}

export class Consolidation implements DisruptionMethod {
  readonly name = 'consolidation';
  readonly reason = 'Underutilized';
  readonly places = true;
  wakeAt: EpochMs | undefined;
  readonly #options: ConsolidationOptions;
  readonly #logger: Logger;
  readonly #metrics: ConsolidationMetrics;
  readonly #stamp: ChangeStamp;
  readonly #facts = new PodFactsCache();
  readonly #caution = new Caution();
  #begunAt = Number.NEGATIVE_INFINITY;
  #nothing: Nothing | undefined;
  #unsettledSince: number | undefined;
  #gatheringSince: number | undefined;
  #following: Following | undefined;

  constructor(options: ConsolidationOptions) {
    this.#options = options;
    this.#logger = (options.logger ?? SILENT_LOGGER).with({ controller: 'disruption', method: this.name });
    this.#metrics = new ConsolidationMetrics(options.metrics);
    this.#stamp = new ChangeStamp(options.state.informers);
  }

  async plan(look: Look, signal: AbortSignal): Promise<readonly Command[]> {
    const { clock } = this.#options;
    if (this.#following !== undefined) {
      const joining = await this.#follow(this.#following, look, signal);
      if (joining.length > 0) return joining;
    }
    if (this.#isUnderWay(look)) {
      // The claims that go say when they are gone.
      this.wakeAt = undefined;
      return [];
    }
    if (!this.#isSettled(look)) {
      this.wakeAt = (look.now + LOOK_AGAIN_MS) as EpochMs;
      return [];
    }
    const pools = await look.pools(signal);
    const sold = pools.map(({ instanceTypes }) => instanceTypes);
    if (this.#isStillNothing(sold, look.now)) return [];
    const stamp = this.#stamp.value;
    const startedAt = clock.elapsed();
    const snapshot = this.#snapshot(look, pools);
    const found = await inSlices(buildFleetSteps(snapshot, this.#facts), clock, signal);
    const together = this.#waitsForOthers(found, look.now);
    if (together !== undefined) {
      this.wakeAt = together;
      return [];
    }
    const built = this.#caution.hasFallen(found.fleet) ? withoutSettling(found) : found;
    this.#caution.settled(built.fleet);
    const plan = await this.#plan(built, signal);
    const making = commandsOfPlan(plan.moves, built, {
      candidate: (name) => {
        const state = built.states.get(name);
        const found = state && withPods(state, look);
        return found === undefined || 'why' in found ? undefined : found;
      },
      poolNamed: look.poolNamed,
      ...this.#policies(look, pools, built),
      budgets: look.budgets,
      newId: () => look.newId(),
    });
    const planned = await inSlices(making, clock, signal);
    const { now, next, unlikely } = await this.#lasting(planned, built, signal);
    const { later } = planned;
    const isCurrent = this.#stamp.value === stamp && !look.isOutdated;
    const right = isCurrent ? now : await this.#stillRight(now, built, look, pools, signal);
    this.#begin(right, built);
    const begun = new Set(right.map(({ command }) => command));
    const kept = next.filter(({ follows }) => follows.every((command) => begun.has(command) || isAmong(command, next)));
    this.#following = kept.length === 0 ? undefined : { moves: kept, built, since: clock.elapsed() };
    await inSlices(this.#tell(right, plan, built), clock, signal);
    const unheardMs = look.nodes.some((node) => look.isNominated(node)) ? NOMINATED_MS : FORGOTTEN_MS;
    const lookAgain = Math.min(built.changesAt ?? Number.POSITIVE_INFINITY, look.now + unheardMs);
    this.wakeAt = lookAgain as EpochMs;
    const open = now.length > 0 || later.length > 0 || !plan.complete;
    this.#nothing = open ? undefined : { stamp, sold, until: this.#changesBefore(lookAgain, look) };
    if (plan.moves.length > 0) {
      this.#logger.info('found a cheaper fleet', {
        way: plan.way,
        moves: plan.moves.length,
        held: built.heldUntil.length,
        begun: right.length,
        following: kept.length,
        later: later.length,
        unlikely,
        test: this.#caution.test,
        priceBefore: plan.priceBefore,
        priceAfter: plan.priceAfter,
        lowerBound: plan.lowerBound,
        seconds: (clock.elapsed() - startedAt) / 1000,
      });
    }
    return right.map(({ command }) => command);
  }

  /** Until when to wait, if many nodes may be looked at in a moment: what is planned for all at once is better. */
  #waitsForOthers({ heldUntil, fleet }: BuiltFleet, now: EpochMs): EpochMs | undefined {
    const elapsed = this.#options.clock.elapsed();
    const soon = heldUntil.filter((until) => until <= now + MOMENT_MS);
    for (const { hold } of fleet.nodes) if (hold === 'nominated') soon.push((now + NOMINATED_AGAIN_MS) as EpochMs);
    const since = this.#gatheringSince ?? elapsed;
    const many = soon.length > 0 && soon.length >= MANY * fleet.nodes.length;
    const waits = many && elapsed - since < LONGEST_GATHERING_MS;
    // Who has waited and planned may wait again: the next plan may be for a load that has only begun to fall.
    this.#gatheringSince = waits ? since : undefined;
    return waits ? (Math.max(...soon) as EpochMs) : undefined;
  }

  #begin(begun: readonly PlannedMove[], { fleet }: BuiltFleet): void {
    if (begun.length === 0) return;
    this.#begunAt = this.#options.clock.elapsed();
    const savings = begun.reduce((sum, { move }) => sum + move.savings, 0);
    this.#caution.begun(uidsOf(begun), savings, fleet);
  }

  /** What policies have to say about moves. */
  #policies(look: Look, pools: readonly UsablePool[], built: BuiltFleet): Pick<CommandParts, 'settle' | 'paid'> {
    const { policies, recorder } = this.#options;
    return withinPolicies({ policies, pools, nodes: look.nodes, built }, ({ nodes }, because) => {
      for (const name of nodes) {
        const { node, claim } = built.states.get(name) ?? {};
        if (node !== undefined) recorder.record(unconsolidatable(node, because));
        if (claim !== undefined) recorder.record(unconsolidatable(claim, because));
      }
    });
  }

  /** Nodes of the latest wave are still going. */
  #isUnderWay({ nodes }: Look): boolean {
    if (this.#options.clock.elapsed() - this.#begunAt >= LONGEST_WAVE_MS) return false;
    const claims = this.#caution.waitsFor;
    return nodes.some((node) => isGoing(node) && claims.has(node.claim?.metadata.uid ?? ''));
  }

  /**
   * Every pod that has no place, or will have none, is known to provisioning, and the nodes that were made for pods are up; or that has
   * been so for too long to wait.
   */
  #isSettled(look: Look): boolean {
    const { rounds, state, clock } = this.#options;
    const uncovered = look.nodes.some(
      (node) =>
        isGoing(node) &&
        node.claim !== undefined &&
        !rounds.covers(node.claim.metadata.uid ?? '') &&
        state.podsOn(node.name).some(isReschedulable),
    );
    const since = look.now - ROUND_MS;
    const waiting =
      uncovered ||
      look.nodes.some((node) => isComing(node) && !isGoing(node)) ||
      state.provisionable().some((pod) => (pendingSince(pod) ?? 0) > since);
    if (!waiting) {
      this.#unsettledSince = undefined;
      return true;
    }
    this.#unsettledSince ??= clock.elapsed();
    return !uncovered && clock.elapsed() - this.#unsettledSince >= LONGEST_WAIT_MS;
  }

  #isStillNothing(sold: Nothing['sold'], now: EpochMs): boolean {
    const nothing = this.#nothing;
    if (nothing === undefined || nothing.stamp !== this.#stamp.value || now >= nothing.until) return false;
    return nothing.sold.length === sold.length && nothing.sold.every((types, index) => types === sold[index]);
  }

  /** The earlier of that time and of the next change of a budget. */
  #changesBefore(time: number, { budgets, now }: Look): number {
    const change = budgets.changesAt(['Empty', 'Underutilized']) ?? Number.POSITIVE_INFINITY;
    return change > now ? Math.min(time, change) : time;
  }

  #snapshot(look: Look, pools: readonly UsablePool[]): FleetSnapshot {
    const { state, provider, clock, cooldownMs, policies, podEvents } = this.#options;
    const reservationLabel = provider.labels.reservation;
    return fleetSnapshot({ state, look, now: clock.now(), pools, policies, podEvents, reservationLabel, cooldownMs });
  }

  #plan({ fleet }: BuiltFleet, signal: AbortSignal): Promise<ConsolidationPlan> {
    const { clock, planMs = 5000, planSteps = 500_000_000, criteria } = this.#options;
    const startedAt = clock.elapsed();
    const elapsedMs = (): number => clock.elapsed() - startedAt;
    const limits = { deadlineMs: planMs, maxSteps: planSteps, elapsedMs };
    return inSlices(consolidateSteps(fleet, { ...criteria, ...limits, evictInTurns: true }), clock, signal);
  }

  /** Those of the moves that work out also when the scheduler places the pods in its own way. */
  async #lasting(
    { now, next }: PlannedCommands,
    { fleet }: BuiltFleet,
    signal: AbortSignal,
  ): Promise<{ now: readonly PlannedMove[]; next: readonly FollowingMove[]; unlikely: number }> {
    // Those that follow come after those that they follow.
    const all = [...now, ...next];
    // Where all pods go to new nodes that are kept for them, the scheduler has no say.
    const steered = steeredMoves(fleet, all);
    const open = all.filter((one) => !steered.has(one));
    const moves = open.map(({ move }) => move);
    const numbers = await inSlices(forecast(fleet, moves, this.#caution.test), this.#options.clock, signal);
    const lasting = new Set(
      [...steered, ...open.filter((_, index) => numbers.has(index))].map(({ command }) => command),
    );
    for (const { command, follows } of next) if (!follows.every((other) => lasting.has(other))) lasting.delete(command);
    return {
      now: now.filter(({ command }) => lasting.has(command)),
      next: next.filter(({ command }) => lasting.has(command)),
      unlikely: all.length - lasting.size,
    };
  }

  /** Begins those moves of the latest plan whose other commands have written the claims that they need. */
  async #follow(following: Following, look: Look, signal: AbortSignal): Promise<readonly Command[]> {
    const { clock } = this.#options;
    const claims = Map.groupBy(look.nodes, ({ claim }) => claim?.metadata.annotations?.[ANNOTATION_REPLACES]);
    const needs = ({ id }: Command): string[] => (claims.get(id) ?? []).map(({ claim }) => claim?.metadata.name ?? '');
    const isThere = (command: Command): boolean => needs(command).length === command.newNodes.length;
    const ready = following.moves.filter(({ follows }) => follows.every(isThere));
    const rest = following.moves.filter((move) => !ready.includes(move));
    const over = clock.elapsed() - following.since >= LONGEST_FOLLOWING_MS;
    this.#following = rest.length === 0 || over ? undefined : { ...following, moves: rest };
    if (ready.length === 0 || over) return [];
    const pools = await look.pools(signal);
    const right = await this.#stillRight(ready, following.built, look, pools, signal, true);
    const savings = right.reduce((sum, { move }) => sum + move.savings, 0);
    this.#caution.joined(uidsOf(right), savings);
    const all = new Map(ready.map(({ command, follows }) => [command, follows]));
    return right.map(({ command }) => ({ ...command, needs: (all.get(command) ?? []).flatMap(needs) }));
  }

  /** Those of the moves that are right on the cluster as it is by now; with `keepsPlaces` what is kept for pods is kept for theirs. */
  async #stillRight(
    planned: readonly PlannedMove[],
    built: BuiltFleet,
    look: Look,
    pools: readonly UsablePool[],
    signal: AbortSignal,
    keepsPlaces = false,
  ): Promise<readonly PlannedMove[]> {
    if (planned.length === 0) return planned;
    const { clock } = this.#options;
    const present = await inSlices(look.again(clock.now()), clock, signal);
    const snapshot = { ...this.#snapshot(present, pools), ...(keepsPlaces ? { isNominated: () => false } : {}) };
    const fresh = await inSlices(buildFleetSteps(snapshot, this.#facts), clock, signal);
    const validation = new Validation({ planned: built, fresh, budgets: present.budgets });
    return inSlices(this.#checked(planned, validation), clock, signal);
  }

  *#checked(planned: readonly PlannedMove[], validation: Validation): Slices<readonly PlannedMove[]> {
    const right: PlannedMove[] = [];
    for (const [index, one] of planned.entries()) {
      const objection = validation.objection(one);
      if (objection === undefined) right.push(one);
      else this.#reject(one, objection);
      if (index % CHECKED_TOGETHER === 0) yield;
    }
    return right;
  }

  #reject({ command }: PlannedMove, objection: Objection): void {
    const { recorder } = this.#options;
    this.#logger.info('consolidation dropped: the plan no longer holds', { ...objection });
    for (const { node, claim } of command.candidates) {
      recorder.record(consolidationRejected(node, objection));
      recorder.record(consolidationRejected(claim, objection));
    }
  }

  *#tell(begun: readonly PlannedMove[], plan: ConsolidationPlan, { fleet, states }: BuiltFleet): Slices<void> {
    const { recorder } = this.#options;
    yield;
    this.#metrics.planned(plan);
    yield* this.#metrics.decided(begun, plan, fleet);
    for (const [index, { move, command }] of begun.entries()) {
      if (index % TOLD_TOGETHER === 0) yield;
      for (const { node, claim } of command.candidates) {
        recorder.record(consolidationApproved(node, move.sentence));
        recorder.record(consolidationApproved(claim, move.sentence));
      }
    }
    for (const { node: name, cause, sentence } of plan.kept.slice(0, MOST_EVENTS)) {
      const { node, claim } = states.get(name) ?? {};
      if (node === undefined || claim === undefined || cause.kind === 'hold' || cause.kind === 'unfinished') continue;
      recorder.record(unconsolidatable(node, sentence));
      recorder.record(unconsolidatable(claim, sentence));
    }
  }
}

function uidsOf(moves: readonly PlannedMove[]): string[] {
  return moves.flatMap(({ command }) => command.candidates.map(({ claim }) => claim.metadata.uid ?? ''));
}

/** Those of the moves whose pods all go to new nodes, where they can be put. */
function steeredMoves({ pods }: Fleet, moves: readonly PlannedMove[]): ReadonlySet<PlannedMove> {
  const steerable = new Set(pods.filter((pod) => pod.steerable === true).map(({ name }) => name));
  return new Set(
    moves.filter(
      ({ move: { landings, newNodes } }) =>
        newNodes.length > 0 && landings.every((landing) => 'move' in landing && steerable.has(landing.pod)),
    ),
  );
}

function isAmong(command: Command, moves: readonly PlannedMove[]): boolean {
  return moves.some((move) => move.command === command);
}

/** Where the load has fallen, nobody flaps who replaces what has only just come. */
function withoutSettling(built: BuiltFleet): BuiltFleet {
  const nodes = built.fleet.nodes.map(({ settling: _, ...node }) => node);
  return { ...built, fleet: { ...built.fleet, nodes } };
}

/** Since when the scheduler has had no place for a pod. */
export function pendingSince({ status, metadata }: Pod): EpochMs | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return parseTimestamp(scheduled?.lastTransitionTime ?? metadata.creationTimestamp);
}
