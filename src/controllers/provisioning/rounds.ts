/** What the latest round of provisioning has done for the pods of claims that go. */

export class Rounds {
  #seen: ReadonlySet<string> = new Set();
  #unwritten: ReadonlySet<string> = new Set();
  readonly #listeners = new Set<() => void>();

  /**
   * A round has ended; it saw these claims go, by UID. What it wanted has been written, but for places of pods of some of them: these
   * alone wait for another round.
   */
  ended(going: Iterable<string>, unwritten: Iterable<string> = []): void {
    this.#seen = new Set(going);
    this.#unwritten = new Set(unwritten);
    for (const listener of [...this.#listeners]) listener();
  }

  /** Whether other places for the pods of this claim were looked for: whoever asks for another round gets the same answer. */
  saw(uid: string): boolean {
    return this.#seen.has(uid);
  }

  /** Whether another place for the pods of this claim has been found, or asked for. */
  covers(uid: string): boolean {
    return this.#seen.has(uid) && !this.#unwritten.has(uid);
  }

  /** Calls back after each round; gives what ends that. */
  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
