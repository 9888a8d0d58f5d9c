/**
 * How many slots of each reservation are left, for everyone who plans or launches in this process. The cloud's own count is
 * the truth, but it is old when it arrives; launches that it cannot know of yet are taken off it, so that there are never
 * more launches than slots. Where it must err, it errs to too few.
 */
import type { Clock } from '../platform/clock.ts';

export interface ReservationsOptions {
  readonly clock: Clock;
  /** How long after a launch the cloud's count may still not show it. */
  readonly settleMs?: number;
}

interface Reservation {
  /** What the cloud said last. */
  counted: number;
  /** When that count was asked for, by the clock that never goes back. */
  countedAt: number;
  /** Claims that hold a slot which the count does not show, and when they were launched; undefined while they are not. */
  readonly holders: Map<string, number | undefined>;
}

export class Reservations {
  readonly #clock: Clock;
  readonly #settleMs: number;
  readonly #reservations = new Map<string, Reservation>();
  #sequence = 0;

  constructor(options: ReservationsOptions) {
    this.#clock = options.clock;
    this.#settleMs = options.settleMs ?? 0;
  }

  /** Rises whenever a number of free slots may have changed. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Takes the cloud's count of free slots, which was asked for at that moment of `clock.elapsed()`. Launches that are old
   * enough to be in it are no longer taken off. A count older than the one we have is of no use.
   */
  count(id: string, free: number, askedAt: number): void {
    const known = this.#reservations.get(id);
    if (known === undefined) {
      this.#reservations.set(id, { counted: free, countedAt: askedAt, holders: new Map() });
      this.#sequence++;
      return;
    }
    if (askedAt < known.countedAt) return;
    const before = slots(known);
    known.counted = free;
    known.countedAt = askedAt;
    for (const [holder, launchedAt] of known.holders) {
      if (launchedAt !== undefined && launchedAt + this.#settleMs < askedAt) known.holders.delete(holder);
    }
    if (slots(known) !== before) this.#sequence++;
  }

  /** Slots that a further launch can count on; a reservation nobody has counted has none. */
  free(id: string): number {
    const known = this.#reservations.get(id);
    return known === undefined ? 0 : slots(known);
  }

  /** Takes a slot for a claim, before its launch; false when there is none. Taking it twice is taking it once. */
  hold(id: string, holder: string): boolean {
    const known = this.#reservations.get(id);
    if (known?.holders.has(holder)) return true;
    if (known === undefined || slots(known) === 0) return false;
    known.holders.set(holder, undefined);
    this.#sequence++;
    return true;
  }

  /** The claim's launch took its slot: it stays off the count until the cloud's own count shows it. */
  launched(id: string, holder: string): void {
    const known = this.#reservations.get(id);
    if (known?.holders.has(holder)) known.holders.set(holder, this.#clock.elapsed());
  }

  /** The launch did not take the slot, and is known not to have: another may. */
  release(id: string, holder: string): void {
    if (this.#reservations.get(id)?.holders.delete(holder)) this.#sequence++;
  }

  /** The cloud says that it is full: so it is until the cloud is asked again. */
  exhausted(id: string): void {
    const known = this.#reservations.get(id);
    if (known === undefined) return;
    known.counted = 0;
    known.countedAt = this.#clock.elapsed();
    this.#sequence++;
  }

  /** The claim is gone: it holds nothing any more. */
  forget(holder: string): void {
    for (const id of this.#reservations.keys()) this.release(id, holder);
  }
}

function slots({ counted, holders }: Reservation): number {
  return Math.max(0, counted - holders.size);
}
