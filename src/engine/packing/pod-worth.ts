import type { Model } from '../compile/model.ts';
import type { PackProblem } from './pack-problem.ts';

/** The average value of a pod of each class, collected from the packing problems it took part in. */
export class PodWorth {
  readonly #sum: Float64Array;
  readonly #count: Float64Array;
  #known = false;

  constructor(model: Model) {
    this.#sum = new Float64Array(model.classes.length);
    this.#count = new Float64Array(model.classes.length);
  }

  /** Adds the values of the rows of a packing problem. */
  learn(pack: PackProblem, values: Float64Array): void {
    this.#known = true;
    pack.parts.forEach(({ podClass, count }, index) => {
      const row = pack.rowOfPart[index] as number;
      if (row < 0) return;
      this.#sum[podClass.index] = (this.#sum[podClass.index] as number) + (values[row] as number) * count;
      this.#count[podClass.index] = (this.#count[podClass.index] as number) + count;
    });
  }

  /** By class; undefined if nothing was learnt. */
  ofClasses(): Float64Array | undefined {
    if (!this.#known) return undefined;
    return this.#sum.map((sum, index) =>
      (this.#count[index] as number) > 0 ? sum / (this.#count[index] as number) : 0,
    );
  }
}
