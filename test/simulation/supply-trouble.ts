/** When what is asked of the cloud or the API server may have come to something else, or late: what is decided then is not judged by its outcome. */
import type { Deed } from './draw/happenings.ts';
import type { Facts } from './facts.ts';

const MINUTE = 60_000;
/** Offerings that had nothing are tried again after three minutes, and pools that got nothing after a while more. */
const MARKET_MS = 15 * MINUTE;
/** What was begun before is written, or given up, by then. */
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

  /** Whether there was any at that time. */
  lately(at: number): boolean {
    return at < this.#until;
  }

  #last(ms: number): void {
    this.#until = Math.max(this.#until, this.#facts.now + ms);
  }
}
