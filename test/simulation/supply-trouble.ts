/** Times at which requests to the cloud or the API server may fail or be late: decisions made then are not judged by their outcome. */
import type { Deed } from './draw/happenings.ts';
import type { Facts } from './facts.ts';

const MINUTE = 60_000;
/** Unavailable offerings are tried again after three minutes, and pools without any somewhat later. */
const MARKET_MS = 15 * MINUTE;
/** By then earlier writes are done or given up. */
const WRITES_MS = 2 * MINUTE;

export class SupplyTrouble {
  readonly #facts: Facts;
  #until = 0;

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  happens(deed: Deed): void {
    switch (deed.what) {
      case 'exhaust':
      case 'cloud trouble':
        this.#last(deed.forMs + MARKET_MS);
        break;
      case 'api trouble':
      case 'refusals':
        this.#last(deed.forMs + WRITES_MS);
        break;
      case 'kill':
        this.#last(deed.downMs + WRITES_MS);
        break;
      case 'cut watches':
        this.#last(WRITES_MS);
        break;
    }
  }

  /** Whether there were such faults at that time. */
  lately(at: number): boolean {
    return at < this.#until;
  }

  #last(ms: number): void {
    this.#until = Math.max(this.#until, this.#facts.now + ms);
  }
}
