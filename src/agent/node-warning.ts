/** What a node hears about its own machine, whichever cloud says it. */
import type { NoticeKind } from '../cloud/notice.ts';
import type { EpochMs } from '../platform/clock.ts';

export interface NodeWarning {
  readonly kind: Exclude<NoticeKind, 'reservation-ending' | 'reservation-interruption' | 'preempted' | 'terminated'>;
  /** When it was said, or heard where the cloud does not say. */
  readonly at: EpochMs;
  /** When the machine goes, where that is known. */
  readonly deadline?: EpochMs;
  /** A phrase for people. */
  readonly detail: string;
}

/** One place where a node hears of it. */
export interface WarningSource {
  readonly name: string;
  /**
   * Listens until the signal aborts, and reports all warnings of this source whenever they change. It never rejects: a
   * place that does not answer is asked again, and what it said last holds meanwhile.
   */
  run(report: (warnings: readonly NodeWarning[]) => void, signal: AbortSignal): Promise<void>;
}
