/**
 * Writes that a controller has made but not yet seen in its cache. Until then its cache is stale, and acting on it
 * would create the same pods twice; so the controller waits (client-go's controller expectations, by uid).
 */
import type { Clock } from '../../platform/clock.ts';

/** After this long an event is assumed to be lost. */
const LONGEST_WAIT_MS = 300_000;

interface Awaited {
  readonly created: Set<string>;
  readonly deleted: Set<string>;
  until: number;
}

export class Expectations {
  readonly #clock: Clock;
  readonly #byOwner = new Map<string, Awaited>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether all writes for the owner have been seen, or the wait has timed out. */
  satisfied(owner: string): boolean {
    const awaited = this.#byOwner.get(owner);
    if (awaited === undefined) return true;
    const done = awaited.created.size === 0 && awaited.deleted.size === 0;
    if (done || this.#clock.elapsed() >= awaited.until) this.#byOwner.delete(owner);
    return done || this.#clock.elapsed() >= awaited.until;
  }

  expectCreation(owner: string, uid: string | undefined): void {
    if (uid !== undefined) this.#awaited(owner).created.add(uid);
  }

  expectDeletion(owner: string, uid: string | undefined): void {
    if (uid !== undefined) this.#awaited(owner).deleted.add(uid);
  }

  sawCreation(owner: string, uid: string | undefined): void {
    if (uid !== undefined) this.#byOwner.get(owner)?.created.delete(uid);
  }

  /** Also called when an object is only marked for deletion, because it no longer counts from then on. */
  sawDeletion(owner: string, uid: string | undefined): void {
    if (uid === undefined) return;
    this.#byOwner.get(owner)?.deleted.delete(uid);
    this.#byOwner.get(owner)?.created.delete(uid);
  }

  forget(owner: string): void {
    this.#byOwner.delete(owner);
  }

  #awaited(owner: string): Awaited {
    let awaited = this.#byOwner.get(owner);
    if (awaited === undefined) {
      awaited = { created: new Set(), deleted: new Set(), until: 0 };
      this.#byOwner.set(owner, awaited);
    }
    awaited.until = this.#clock.elapsed() + LONGEST_WAIT_MS;
    return awaited;
  }
}
