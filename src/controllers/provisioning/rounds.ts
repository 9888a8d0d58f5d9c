/** Which going claims the latest complete round of provisioning has found places for the pods of. */

export class Rounds {
  #covered: ReadonlySet<string> = new Set();
  readonly #listeners = new Set<() => void>();

  /** A round has ended, and what it wanted has been written; it saw these claims go, by UID. */
  ended(going: Iterable<string>): void {
    this.#covered = new Set(going);
    for (const listener of [...this.#listeners]) listener();
  }

  /** Whether another place for the pods of this claim has been found, or asked for. */
  covers(uid: string): boolean {
    return this.#covered.has(uid);
  }

  /** Calls back after each round; gives what ends that. */
  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
