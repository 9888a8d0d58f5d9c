/** Results that are kept, so that a run can be continued and contenders shown side by side. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ContenderName } from './contender.ts';
import type { GroundName } from './ground.ts';
import type { SpecResult } from './spec.ts';

/** The saved results of one contender on one ground, by spec. */
export class SavedResults {
  readonly #file: string;
  #bySpec: Map<string, SpecResult>;

  constructor(contender: ContenderName, on: GroundName) {
    this.#file = join(import.meta.dirname, 'results', `${contender}-${on}.json`);
    this.#bySpec = this.#read();
  }

  #read(): Map<string, SpecResult> {
    const saved = existsSync(this.#file) ? (JSON.parse(readFileSync(this.#file, 'utf8')) as SpecResult[]) : [];
    return new Map(saved.map((result) => [result.spec, result]));
  }

  get(spec: string): SpecResult | undefined {
    return this.#bySpec.get(spec);
  }

  get size(): number {
    return this.#bySpec.size;
  }

  /** Written at once: a run that is cut off keeps what it has found, and two runs at the same time keep both. */
  save(result: SpecResult): void {
    this.#bySpec = this.#read();
    this.#bySpec.set(result.spec, result);
    const sorted = [...this.#bySpec.values()].sort((a, b) => (a.spec < b.spec ? -1 : 1));
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, `${JSON.stringify(sorted, null, 2)}\n`);
  }
}
