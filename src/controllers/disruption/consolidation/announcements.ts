/** Reports consolidation plans in events, metrics and the log. */
import type { Slices } from '../../../engine/packing/work.ts';
import type { EventRecorder } from '../../../kube/event-recorder.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Metrics } from '../../../platform/metrics.ts';
import type { BuiltFleet } from '../../../state/build-fleet.ts';
import type { PlannedMove } from './commands-of-plan.ts';
import { consolidationApproved, consolidationRejected, unconsolidatable } from './events.ts';
import { ConsolidationMetrics } from './metrics.ts';
import type { PlannedMoves } from './plan-moves.ts';
import type { Objection } from './validation.ts';

export interface AnnouncementsOptions {
  readonly recorder: EventRecorder;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Yields after this many moves. */
const TOLD_TOGETHER = 100;
/** At most this many Unconsolidatable events per plan. */
const MOST_EVENTS = 50;

export class Announcements {
  readonly #recorder: EventRecorder;
  readonly #metrics: ConsolidationMetrics;
  readonly #logger: Logger;

  constructor({ recorder, metrics, logger }: AnnouncementsOptions) {
    this.#recorder = recorder;
    this.#metrics = new ConsolidationMetrics(metrics);
    this.#logger = logger;
  }

  /** Reports a new plan, and why nodes are not consolidated; in slices. */
  *planned({ plan, refused }: PlannedMoves, built: BuiltFleet): Slices<void> {
    yield;
    this.#metrics.planned(plan, built.fleet);
    yield;
    for (const [{ nodes }, because] of refused) for (const name of nodes) this.#stays(name, because, built);
    for (const { node, cause, sentence } of plan.kept.slice(0, MOST_EVENTS))
      if (cause.kind !== 'hold' && cause.kind !== 'unfinished') this.#stays(node, sentence, built);
  }

  /** Reports moves that have begun; in slices. */
  *begun(moves: readonly PlannedMove[], { fleet }: BuiltFleet): Slices<void> {
    yield* this.#metrics.begun(moves, fleet);
    for (const [index, { move, command }] of moves.entries()) {
      if (index % TOLD_TOGETHER === 0) yield;
      for (const { node, claim } of command.candidates) {
        this.#recorder.record(consolidationApproved(node, move.sentence));
        this.#recorder.record(consolidationApproved(claim, move.sentence));
      }
    }
  }

  /** Reports a move that was dropped, because it is no longer valid. */
  dropped({ command }: PlannedMove, objection: Objection): void {
    this.#logger.info('consolidation dropped: the plan no longer holds', { ...objection });
    for (const { node, claim } of command.candidates) {
      this.#recorder.record(consolidationRejected(node, objection));
      this.#recorder.record(consolidationRejected(claim, objection));
    }
  }

  /** Logs that there is a cheaper fleet, and how many moves begin. */
  log({ plan, later, unlikely }: PlannedMoves, details: Readonly<Record<string, unknown>>): void {
    if (plan.moves.length === 0) return;
    const { way, moves, priceBefore, priceAfter, lowerBound } = plan;
    const counts = { moves: moves.length, later: later.length, unlikely: unlikely.length };
    this.#logger.info('found a cheaper fleet', { way, ...counts, ...details, priceBefore, priceAfter, lowerBound });
  }

  #stays(name: string, because: string, { states }: BuiltFleet): void {
    const { node, claim } = states.get(name) ?? {};
    if (node === undefined || claim === undefined) return;
    this.#recorder.record(unconsolidatable(node, because));
    this.#recorder.record(unconsolidatable(claim, because));
  }
}
