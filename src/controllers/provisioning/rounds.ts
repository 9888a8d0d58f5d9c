/** Which claims being removed the latest provisioning round has planned replacements for. */

export class Rounds {
  #seen: ReadonlySet<string> = new Set();
  #unwritten: ReadonlySet<string> = new Set();
  readonly #listeners = new Set<() => void>();

  /**
   * Records the end of a round that planned for these claims being removed, by UID. Replacements for the `unwritten` ones could not be
   * created; they wait for another round.
   */
  ended(going: Iterable<string>, unwritten: Iterable<string> = []): void {
    this.#seen = new Set(going);
    this.#unwritten = new Set(unwritten);
    for (const listener of [...this.#listeners]) listener();
  }

  /** Whether the round planned for the pods of this claim. Another round would give the same answer. */
  saw(uid: string): boolean {
    return this.#seen.has(uid);
  }

  /** Whether the pods of this claim have other nodes, or launched replacements. */
  covers(uid: string): boolean {
    return this.#seen.has(uid) && !this.#unwritten.has(uid);
  }

  /** Calls back after each round. Call the result to stop. */
  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
