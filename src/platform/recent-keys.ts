/** Remembers the keys that came last, so that what comes twice counts once. */
export class RecentKeys {
  readonly #keys = new Set<string>();
  readonly #most: number;

  /** No more than so many are remembered: the oldest goes first. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Remembers the key; false when it is remembered already. */
  add(key: string): boolean {
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    const [oldest] = this.#keys;
    if (this.#keys.size > this.#most && oldest !== undefined) this.#keys.delete(oldest);
    return true;
  }
}
