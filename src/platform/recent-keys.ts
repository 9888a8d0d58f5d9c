/** Remembers recent keys, to ignore duplicates. */
export class RecentKeys {
  readonly #keys = new Set<string>();
  readonly #most: number;

  /** Remembers at most this many keys; forgets the oldest first. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Adds the key; false when it is known already. */
  add(key: string): boolean {
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    const [oldest] = this.#keys;
    if (this.#keys.size > this.#most && oldest !== undefined) this.#keys.delete(oldest);
    return true;
  }
}
