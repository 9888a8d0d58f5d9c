/**
 * Which launches have not helped, by demand (see `planned-for.ts`) and for pools as a whole, and until when the next one waits. The
 * first two launches for a demand wait for nothing: the second is planned with what was found on the first. Pure.
 */
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';

/** Launches for a demand that have not helped. */
export interface FutileLaunches {
  /** How many, one after the other; those that were planned together count once. */
  readonly count: number;
  /** When the latest was seen not to help. */
  readonly at: EpochMs;
  /** When the claim of that was made: what was launched before it says nothing about it. */
  readonly launchedAt: EpochMs;
}

/** Launches that wait for nothing. */
const AT_ONCE = 2;
const SHORTEST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 30 * 60_000;
/** What did not help so long ago may help now. */
const FORGOTTEN_MS = 60 * 60_000;
/** So many are written down. */
const MOST_WRITTEN = 50;

/** When the next launch may begin: each wait is twice the one before, and never shorter than a launch takes to be seen not to help. */
export function nextLaunchAt({ count, at, launchedAt }: FutileLaunches): EpochMs {
  if (count < AT_ONCE) return at;
  const firstMs = Math.max(SHORTEST_WAIT_MS, at - launchedAt);
  return (at + Math.min(LONGEST_WAIT_MS, firstMs * 2 ** (count - AT_ONCE))) as EpochMs;
}

export class LaunchHistory {
  readonly #futile = new Map<string, FutileLaunches>();

  of(demand: string): FutileLaunches | undefined {
    return this.#futile.get(demand);
  }

  /** Which launch for the demand the next one is. */
  attempt(demand: string): number {
    return (this.#futile.get(demand)?.count ?? 0) + 1;
  }

  /** The launch of that number has not helped; tells whether that is new. */
  failed(demand: string, attempt: number, at: EpochMs, launchedAt: EpochMs): boolean {
    if (attempt <= (this.#futile.get(demand)?.count ?? 0)) return false;
    this.#futile.set(demand, { count: attempt, at, launchedAt });
    return true;
  }

  /** A launch of that time has helped; tells whether anything is forgotten for it. */
  helped(demand: string, launchedAt: EpochMs): boolean {
    const known = this.#futile.get(demand);
    return known !== undefined && launchedAt >= known.launchedAt && this.#futile.delete(demand);
  }

  /** Forgets what was long ago; tells whether there was any. */
  sweep(now: EpochMs): boolean {
    const before = this.#futile.size;
    for (const [demand, futile] of this.#futile) {
      if (now - nextLaunchAt(futile) > FORGOTTEN_MS) this.#futile.delete(demand);
    }
    return this.#futile.size < before;
  }

  /** A word for each demand, the latest first: `DEMAND#COUNT@AT/LAUNCHED`. */
  write(): string {
    const latest = [...this.#futile].sort(([, a], [, b]) => b.at - a.at).slice(0, MOST_WRITTEN);
    return latest
      .map(([demand, { count, at, launchedAt }]) => `${demand}#${count}@${toTimestamp(at)}/${toTimestamp(launchedAt)}`)
      .join(' ');
  }

  /** What was written down, and what is not known of it yet; words that cannot be read are passed over. */
  read(text: string): void {
    for (const word of text.split(' ')) {
      const [, demand = '', count = '', at, launchedAt] = /^(.+)#(\d+)@([^/]+)\/(.+)$/.exec(word) ?? [];
      const times = [parseTimestamp(at), parseTimestamp(launchedAt)];
      if (times[0] !== undefined && times[1] !== undefined) this.failed(demand, Number(count), times[0], times[1]);
    }
  }
}
