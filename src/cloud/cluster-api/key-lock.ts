/** Lets one piece of work at a time go on for each key, in the order in which they came. */
export class KeyLock {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the work when all earlier work of the key has ended, however that ended. */
  async run<Answer>(key: string, work: () => Promise<Answer>): Promise<Answer> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
