import type { NoticeKind, ReceivedNotice } from '../../notice.ts';

/** Lower numbers are more urgent. */
const URGENCY: Readonly<Record<NoticeKind, number>> = {
  'spot-interruption': 0,
  'reservation-interruption': 0,
  preempted: 1,
  stopping: 1,
  terminated: 1,
  'scheduled-maintenance': 2,
  rebalance: 3,
  'reservation-ending': 3,
};

/** Received notices that are not handed over yet: most urgent first, then in order of arrival. */
export class WaitingNotices {
  /** One queue per urgency; the first `#taken` items of a queue are gone. */
  readonly #lines: { items: ReceivedNotice[]; taken: number }[] = [0, 1, 2, 3].map(() => ({ items: [], taken: 0 }));
  #wake: (() => void) | undefined;

  add(notice: ReceivedNotice): void {
    this.#lines[URGENCY[notice.kind]]?.items.push(notice);
    this.#wake?.();
  }

  /** Waits for the next notice; undefined once the signal has aborted. */
  async next(signal: AbortSignal): Promise<ReceivedNotice | undefined> {
    for (;;) {
      if (signal.aborted) return undefined;
      const notice = this.#take();
      if (notice !== undefined) return notice;
      await this.#added(signal);
    }
  }

  #take(): ReceivedNotice | undefined {
    for (const line of this.#lines) {
      const notice = line.items[line.taken];
      if (notice === undefined) continue;
      line.taken++;
      if (line.taken === line.items.length || line.taken > 1000) {
        line.items.splice(0, line.taken);
        line.taken = 0;
      }
      return notice;
    }
    return undefined;
  }

  #added(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        this.#wake = undefined;
        resolve();
      };
      this.#wake = wake;
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
