/**
 * Triggers another provisioning round when no event would. While pods are pending: an offering may be available again, a cloud may
 * answer again, a volume may be created, or another pod may have taken the planned room, and the scheduler marks a pod unschedulable only
 * once. While pods have not left nodes that are being removed: nominations expire, and their replacement nodes would be removed as empty
 * and launched again. While claims cannot be created: soon at first, as most retries succeed, then less often, as a webhook may refuse
 * them for good.
 */
import type { Clock, Timer } from '../../platform/clock.ts';

export interface LaterRoundOptions {
  readonly clock: Clock;
  trigger(): void;
}

/** Work that a round left. */
export interface Remainder {
  /** Pending pods, nominated or not, and pods of nodes being removed that fit nowhere. */
  readonly waiting?: number;
  /** Pods on nodes that are being removed. */
  readonly displaced?: number;
  /** Claims that could not be created. */
  readonly unwritten?: number;
}

const FIRST_WAIT_MS = 10_000;
/** Short, because the batch adds its own delay. */
const FIRST_REWRITE_MS = 500;
const LONGEST_WAIT_MS = 60_000;
/** Half of the lifetime of a nomination. */
const STAYING_WAIT_MS = 300_000;

export class LaterRound {
  readonly #options: LaterRoundOptions;
  #timer: Timer | undefined;
  #virtual: Timer | undefined;
  #hasAsked = false;
  /** Rounds in a row with pending pods that only this timer triggered. Any other trigger means a change, and resets it. */
  #waited = 0;
  /** Rounds in a row that could not create all claims, whatever triggered them. */
  #failed = 0;

  constructor(options: LaterRoundOptions) {
    this.#options = options;
  }

  /** Schedules the next round after one that ended with this work left. */
  ended({ waiting = 0, displaced = 0, unwritten = 0 }: Remainder): void {
    this.stop();
    this.#waited = waiting > 0 && this.#hasAsked ? this.#waited + 1 : 0;
    this.#failed = unwritten > 0 ? this.#failed + 1 : 0;
    this.#hasAsked = false;
    const afterMs = Math.min(
      displaced > 0 ? STAYING_WAIT_MS : Number.POSITIVE_INFINITY,
      waiting > 0 ? longer(FIRST_WAIT_MS, this.#waited) : Number.POSITIVE_INFINITY,
      unwritten > 0 ? longer(FIRST_REWRITE_MS, this.#failed - 1) : Number.POSITIVE_INFINITY,
    );
    if (Number.isFinite(afterMs)) this.#timer = this.#options.clock.setTimer(afterMs, () => this.#ask());
  }

  /** Schedules a later round if virtual pods of capacity buffers have no room. */
  also(virtual: number): void {
    if (virtual === 0) return;
    this.#virtual?.cancel();
    this.#virtual = this.#options.clock.setTimer(LONGEST_WAIT_MS, () => this.#options.trigger());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#virtual?.cancel();
  }

  #ask(): void {
    this.#hasAsked = true;
    this.#options.trigger();
  }
}

/** Doubles each time, up to the longest wait. */
function longer(firstMs: number, times: number): number {
  return Math.min(LONGEST_WAIT_MS, firstMs * 2 ** times);
}
