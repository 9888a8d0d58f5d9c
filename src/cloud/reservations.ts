/**
 * Free slots of each reservation, for all plans and launches of this process. The cloud's count is old when it arrives, so
 * launches that it may not include yet are subtracted: there are never more launches than slots. If in doubt, the number
 * is too low.
 */
import type { Clock } from '../platform/clock.ts';

export interface ReservationsOptions {
  readonly clock: Clock;
  /** How long the cloud's count may still miss a launch. */
  readonly settleMs?: number;
}

interface Reservation {
  /** The cloud's last count of free slots. */
  counted: number;
  /** When the cloud was asked for it, by `clock.elapsed()`. */
  countedAt: number;
  /** Claims whose slot the count may not include, with the time of their launch; undefined before the launch. */
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

  /** Increases whenever the number of free slots may have changed. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Stores the cloud's count of free slots, asked for at this `clock.elapsed()`. Launches old enough to be included are no
   * longer subtracted. A count older than the stored one is ignored.
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

  /** Slots that another launch can use; 0 before the first count. */
  free(id: string): number {
    const known = this.#reservations.get(id);
    return known === undefined ? 0 : slots(known);
  }

  /** Takes a slot for a claim before its launch. Idempotent. False if there is none. */
  hold(id: string, holder: string): boolean {
    const known = this.#reservations.get(id);
    if (known?.holders.has(holder)) return true;
    if (known === undefined || slots(known) === 0) return false;
    known.holders.set(holder, undefined);
    this.#sequence++;
    return true;
  }

  /** The claim was launched into its slot, which is subtracted until the cloud's count includes it. */
  launched(id: string, holder: string): void {
    const known = this.#reservations.get(id);
    if (known?.holders.has(holder)) known.holders.set(holder, this.#clock.elapsed());
  }

  /** The launch certainly did not use its slot, so another claim may take it. */
  release(id: string, holder: string): void {
    if (this.#reservations.get(id)?.holders.delete(holder)) this.#sequence++;
  }

  /** The cloud refused a launch because the reservation is full. Holds until the next count. */
  exhausted(id: string): void {
    const known = this.#reservations.get(id);
    if (known === undefined) return;
    known.counted = 0;
    known.countedAt = this.#clock.elapsed();
    this.#sequence++;
  }

  /** The claim is gone and gives up its slots. */
  forget(holder: string): void {
    for (const id of this.#reservations.keys()) this.release(id, holder);
  }
}

function slots({ counted, holders }: Reservation): number {
  return Math.max(0, counted - holders.size);
}
