/** Makes the fleet cheaper: plans moves over all nodes at once, and returns those that can begin now. */
import type { Clouds } from '../../../cloud/clouds.ts';
import type { ConsolidationOptions as PlanOptions } from '../../../engine/consolidation/fleet.ts';
import type { Labels } from '../../../engine/problem.ts';
import type { EventRecorder } from '../../../kube/event-recorder.ts';
import type { Clock, EpochMs } from '../../../platform/clock.ts';
import { type Logger, SILENT_LOGGER } from '../../../platform/logger.ts';
import type { Metrics } from '../../../platform/metrics.ts';
import { type BuiltFleet, buildFleetSteps, type FleetSnapshot } from '../../../state/build-fleet.ts';
import type { ClusterState } from '../../../state/cluster-state.ts';
import type { Headroom } from '../../../state/headroom.ts';
import { PodFactsCache } from '../../../state/pod-facts.ts';
import type { UsablePool } from '../../../state/usable-pool.ts';
import { inSlices } from '../../in-slices.ts';
import type { PodEvents } from '../../nodeclaim/podevents/pod-events.ts';
import type { Rounds } from '../../provisioning/rounds.ts';
import type { SpotPolicies } from '../../spot-policy/spot-policies.ts';
import type { BackOff } from '../back-off.ts';
import type { Command } from '../commands/command.ts';
import type { Look } from '../look.ts';
import type { DisruptionMethod } from '../method.ts';
import { poolBackOffKey } from '../pool-back-off-key.ts';
import { Announcements } from './announcements.ts';
import { Caution } from './caution.ts';
import type { ChangeStamp } from './change-stamp.ts';
import { candidatesAmong, type FollowingMove, type PlannedMove } from './commands-of-plan.ts';
import { fleetSnapshot } from './fleet-snapshot.ts';
import { FollowingMoves } from './following-moves.ts';
import { Ground } from './ground.ts';
import { confirmed, type PlannedMoves, planMoves } from './plan-moves.ts';
import { checkAgain, Validation } from './validation.ts';
import type { PolicyCircumstances } from './within-policies.ts';

/** Limits of planning. */
export interface ConsolidationLimits {
  /** How long a replacement is left alone. */
  readonly cooldownMs?: number;
  /** The longest time for a plan. */
  readonly planMs?: number;
  /** The most work for a plan: on a virtual clock no time passes while it runs. */
  readonly planSteps?: number;
  readonly criteria?: Pick<
    PlanOptions,
    'minSavings' | 'minSavingsShare' | 'minSavingsPerDisruption' | 'movePrice' | 'spotDiversity'
  >;
}

export interface ConsolidationOptions extends ConsolidationLimits {
  readonly clock: Clock;
  readonly state: ClusterState;
  readonly clouds: Pick<Clouds, 'reservationOf'>;
  readonly recorder: EventRecorder;
  readonly metrics: Metrics;
  readonly logger?: Logger;
  readonly rounds: Pick<Rounds, 'covers'>;
  readonly podEvents: Pick<PodEvents, 'latest'>;
  readonly stamp: Pick<ChangeStamp, 'value'>;
  /** Pools whose nodes did not come up. */
  readonly backOff: Pick<BackOff, 'leftMs'>;
  /** How each pool uses spot capacity. */
  readonly policies: Pick<SpotPolicies, 'for'>;
  /** The room that CapacityBuffers reserve: it moves like pods do, at no cost. */
  readonly headroom: Pick<Headroom, 'isKnown' | 'on'>;
}

/** The longest time between two plans: some changes raise no event. */
const FORGOTTEN_MS = 300_000;
/** The same while nodes are nominated, because the end of a nomination raises no event. */
const NOMINATED_MS = 10_000;
/** The next provisioning round places CapacityBuffers within this time. */
const HEADROOM_AGAIN_MS = 2000;

/** The moves of the latest plan. */
interface LatestMoves {
  readonly moves: readonly PlannedMove[];
  /** Moves that may follow; undefined if these follow others themselves. */
  readonly next?: readonly FollowingMove[];
  /** The fleet that they were planned from. */
  readonly built: BuiltFleet;
}

export class Consolidation implements DisruptionMethod {
  readonly name = 'consolidation';
  readonly reason = 'Underutilized';
  readonly places = true;
  wakeAt: EpochMs | undefined;
  readonly #options: ConsolidationOptions;
  readonly #announcements: Announcements;
  readonly #ground: Ground;
  readonly #following: FollowingMoves;
  readonly #facts = new PodFactsCache();
  readonly #caution: Caution;
  #latest: LatestMoves | undefined;

  constructor(options: ConsolidationOptions) {
    const { clock } = options;
    const logger = (options.logger ?? SILENT_LOGGER).with({ controller: 'disruption', method: this.name });
    this.#options = options;
    this.#announcements = new Announcements({ ...options, logger });
    this.#caution = new Caution({ clock, logger });
    this.#ground = new Ground(options);
    this.#following = new FollowingMoves(clock);
  }

  async plan(look: Look, signal: AbortSignal): Promise<readonly Command[]> {
    const { clock } = this.#options;
    const { stamp } = this.#ground;
    const joining = await this.#follow(look, signal);
    if (joining.length > 0) return joining;
    const waits = this.#ground.waits(look, this.#caution.waitsFor);
    if (waits !== undefined) return this.#later(waits.until);
    if (!this.#options.headroom.isKnown) return this.#later((look.now + HEADROOM_AGAIN_MS) as EpochMs);
    const pools = await look.pools(signal);
    if (this.#ground.isBarren(pools, look.now)) return [];
    const startedAt = clock.elapsed();
    const found = await inSlices(buildFleetSteps(this.#snapshot(look, pools), this.#facts), clock, signal);
    const gathers = this.#ground.gathersUntil(found, look.now);
    if (gathers !== undefined) return this.#later(gathers);
    const built = this.#caution.hasFallen(found.fleet) ? withoutSettling(found) : found;
    this.#caution.settled(built.fleet, look.nodes);
    this.#following.forget();
    const planned = await this.#plan(built, look, pools, signal);
    await inSlices(this.#announcements.planned(planned, built), clock, signal);
    const until = Math.min(built.changesAt ?? Number.POSITIVE_INFINITY, look.now + this.#unheardMs(look));
    this.wakeAt = until as EpochMs;
    const open = planned.now.length > 0 || planned.later.length > 0 || !planned.plan.complete;
    if (open) this.#ground.foundSomething();
    else this.#ground.foundNothing(stamp, pools, look, until);
    // Checked last: later changes are found by the validation before a command begins.
    const isCurrent = this.#ground.stamp === stamp && !look.isOutdated;
    const right = isCurrent ? planned.now : await this.#stillRight(planned.now, built, look, pools, signal);
    this.#announcements.log(planned, {
      ...{ held: built.heldUntil.length, right: right.length, test: this.#caution.test },
      seconds: (clock.elapsed() - startedAt) / 1000,
    });
    this.#latest = { moves: right, next: planned.next, built };
    return right.map(({ command }) => command);
  }

  /** Waits for, and learns from, only the moves that have really begun. */
  async begun(commands: readonly Command[], signal: AbortSignal): Promise<void> {
    const latest = this.#latest;
    this.#latest = undefined;
    if (latest === undefined) return;
    const { built } = latest;
    const ids = new Set(commands.map(({ id }) => id));
    const begun = latest.moves.filter(({ command }) => ids.has(command.id));
    if (begun.length === 0) return;
    if (latest.next === undefined) this.#caution.joined(uidsOf(begun), savingsOf(begun));
    else {
      this.#ground.begun();
      this.#caution.begun(uidsOf(begun), savingsOf(begun), built.fleet);
      this.#following.keep(latest.next, begun, built);
    }
    await inSlices(this.#announcements.begun(begun, built), this.#options.clock, signal);
  }

  /** After how long something may have changed without an event. */
  #unheardMs(look: Look): number {
    const isNominated = look.nodes.some((node) => look.isNominated(node));
    const waits = [...look.poolNamed.keys()].map((pool) =>
      this.#options.backOff.leftMs(poolBackOffKey(pool, this.reason)),
    );
    return Math.min(isNominated ? NOMINATED_MS : FORGOTTEN_MS, ...waits.filter((ms) => ms > 0));
  }

  #later(until: EpochMs | undefined): readonly Command[] {
    this.wakeAt = until;
    return [];
  }

  #plan(built: BuiltFleet, look: Look, pools: readonly UsablePool[], signal: AbortSignal): Promise<PlannedMoves> {
    const { clock, planMs = 5000, planSteps = 500_000_000, criteria } = this.#options;
    const planning = planMoves(built, {
      ...this.#circumstances(look, pools),
      options: () => {
        const startedAt = clock.elapsed();
        const elapsedMs = (): number => clock.elapsed() - startedAt;
        return { ...criteria, deadlineMs: planMs, maxSteps: planSteps, elapsedMs, evictInTurns: true };
      },
      test: this.#caution.test,
      candidate: candidatesAmong(built, look),
      poolNamed: look.poolNamed,
      budgets: look.budgets,
      newId: () => look.newId(),
    });
    return inSlices(planning, clock, signal);
  }

  /** The moves of the latest plan whose needed claims are written by now. */
  async #follow(look: Look, signal: AbortSignal): Promise<readonly Command[]> {
    const ready = this.#following.ready(look);
    if (ready === undefined) return [];
    const pools = await look.pools(signal);
    const right = await this.#stillRight(ready.moves, ready.built, look, pools, signal, true);
    this.#latest = { moves: right, built: ready.built };
    return right.map(({ command }) => ({ ...command, needs: ready.needsOf(command) }));
  }

  /** The moves that are still valid in the cluster as it is now. With `keepsPlaces`, nominations are taken as those of the moves' own pods. */
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
    const { right, wrong } = await inSlices(checkAgain(planned, validation), clock, signal);
    for (const [one, objection] of wrong) this.#announcements.dropped(one, objection);
    const kept = confirmed(right, { ...this.#circumstances(present, pools), built });
    return right.filter(({ command }) => kept.has(command));
  }

  #circumstances({ nodes }: Look, pools: readonly UsablePool[]): PolicyCircumstances {
    return { policies: this.#options.policies, pools, nodes };
  }

  #snapshot(look: Look, pools: readonly UsablePool[]): FleetSnapshot {
    const { clock, clouds } = this.#options;
    const reservationOf = (labels: Labels): string | undefined => clouds.reservationOf(labels);
    return fleetSnapshot({ ...this.#options, look, pools, now: clock.now(), reservationOf });
  }
}

function uidsOf(moves: readonly PlannedMove[]): string[] {
  return moves.flatMap(({ command }) => command.candidates.map(({ claim }) => claim.metadata.uid ?? ''));
}

function savingsOf(moves: readonly PlannedMove[]): number {
  return moves.reduce((sum, { move }) => sum + move.savings, 0);
}

/** After the load has fallen, replacing young nodes is not flapping. */
function withoutSettling(built: BuiltFleet): BuiltFleet {
  const nodes = built.fleet.nodes.map(({ settling: _, ...node }) => node);
  return { ...built, fleet: { ...built.fleet, nodes } };
}
