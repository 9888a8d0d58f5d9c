import type { Spec } from './spec.ts';

/** Hands specs to lanes. Of those that cannot run side by side, because they take the same port, only one is out at a time. */
export class SpecQueue {
  readonly #waiting: Spec[];
  readonly #isAlone: (spec: string) => boolean;
  #out: string | undefined;

  constructor(specs: readonly Spec[], isAlone: (spec: string) => boolean) {
    this.#waiting = [...specs];
    this.#isAlone = isAlone;
  }

  /** The next spec that may run now; undefined when there is none, which is for ever as far as the lane is concerned. */
  take(): Spec | undefined {
    const index = this.#waiting.findIndex(({ name }) => this.#out === undefined || !this.#isAlone(name));
    const [spec] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (spec !== undefined && this.#isAlone(spec.name)) this.#out = spec.name;
    return spec;
  }

  /** Says that a spec has ended. */
  done(spec: string): void {
    if (this.#out === spec) this.#out = undefined;
  }
}
