/**
 * Launches that did not help, per demand (see `planned-for.ts`) and for the pool as a whole, and when the next one may start. The first
 * two launches for a demand do not wait: the second is planned with the room measured on the first. Pure.
 */
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';

/** Consecutive launches for a demand that did not help. */
export interface FutileLaunches {
  /** How many in a row; launches of one plan count once. */
  readonly count: number;
  /** When the latest was found not to help. */
  readonly at: EpochMs;
  /** When its claim was created. The outcome of an earlier launch does not reset this record. */
  readonly launchedAt: EpochMs;
}

/** Launches that do not wait. */
const AT_ONCE = 2;
const SHORTEST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 30 * 60_000;
/** A record is forgotten this long after the next launch was allowed. */
const FORGOTTEN_MS = 60 * 60_000;
/** Most records written on a pool. */
const MOST_WRITTEN = 50;

/** When the next launch may start. Waits double, and are never shorter than it took to find the last launch unused. */
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

  /** Records that this attempt did not help; returns whether that is new. */
  failed(demand: string, attempt: number, at: EpochMs, launchedAt: EpochMs): boolean {
    if (attempt <= (this.#futile.get(demand)?.count ?? 0)) return false;
    this.#futile.set(demand, { count: attempt, at, launchedAt });
    return true;
  }

  /** Forgets the record if a launch as new as it has helped; returns whether it did. */
  helped(demand: string, launchedAt: EpochMs): boolean {
    const known = this.#futile.get(demand);
    return known !== undefined && launchedAt >= known.launchedAt && this.#futile.delete(demand);
  }

  /** Forgets old records; returns whether there were any. */
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

  /** Reads written records that are newer than the known ones; ignores unreadable words. */
  read(text: string): void {
    for (const word of text.split(' ')) {
      const [, demand = '', count = '', at, launchedAt] = /^(.+)#(\d+)@([^/]+)\/(.+)$/.exec(word) ?? [];
      const times = [parseTimestamp(at), parseTimestamp(launchedAt)];
      if (times[0] !== undefined && times[1] !== undefined) this.failed(demand, Number(count), times[0], times[1]);
    }
  }
}
