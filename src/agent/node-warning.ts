/** Interruption notices that a node receives about its own machine, in any cloud. */
import type { NoticeKind } from '../cloud/notice.ts';
import type { EpochMs } from '../platform/clock.ts';

export interface NodeWarning {
  readonly kind: Exclude<NoticeKind, 'reservation-ending' | 'reservation-interruption' | 'preempted' | 'terminated'>;
  /** When the cloud sent it, or when it was received where the cloud does not say. */
  readonly at: EpochMs;
  /** When the machine ends, where that is known. */
  readonly deadline?: EpochMs;
  /** A phrase for people. */
  readonly detail: string;
}

/** A source of notices. */
export interface WarningSource {
  readonly name: string;
  /**
   * Listens until the signal aborts, and reports all warnings of this source whenever they change. It never rejects: a source
   * that does not answer is retried, and its last warnings stay meanwhile.
   */
  run(report: (warnings: readonly NodeWarning[]) => void, signal: AbortSignal): Promise<void>;
}
