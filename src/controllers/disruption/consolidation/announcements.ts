/** What people are told of plans, in events, metrics and the log. */
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

/** So many moves are told of before others may run. */
const TOLD_TOGETHER = 100;
/** The events of one plan that say why nodes stay. */
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

  /** A plan was made: why nodes stay; in slices. */
  *planned({ plan, refused }: PlannedMoves, built: BuiltFleet): Slices<void> {
    yield;
    this.#metrics.planned(plan, built.fleet);
    yield;
    for (const [{ nodes }, because] of refused) for (const name of nodes) this.#stays(name, because, built);
    for (const { node, cause, sentence } of plan.kept.slice(0, MOST_EVENTS))
      if (cause.kind !== 'hold' && cause.kind !== 'unfinished') this.#stays(node, sentence, built);
  }

  /** These moves have begun; in slices. */
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

  /** A move that is not right any more is not begun. */
  dropped({ command }: PlannedMove, objection: Objection): void {
    this.#logger.info('consolidation dropped: the plan no longer holds', { ...objection });
    for (const { node, claim } of command.candidates) {
      this.#recorder.record(consolidationRejected(node, objection));
      this.#recorder.record(consolidationRejected(claim, objection));
    }
  }

  /** Says in the log that there is a cheaper fleet, and what comes of it. */
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
