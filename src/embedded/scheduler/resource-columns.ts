/** Gives each resource name a column, so that amounts can be compared as arrays of numbers. */
export class ResourceColumns {
  readonly #columns = new Map<string, number>();
  readonly #names: string[] = [];

  constructor() {
    // Scoring refers to these two by number.
    this.column('cpu');
    this.column('memory');
  }

  get count(): number {
    return this.#names.length;
  }

  column(name: string): number {
    const known = this.#columns.get(name);
    if (known !== undefined) return known;
    const column = this.#names.push(name) - 1;
    this.#columns.set(name, column);
    return column;
  }

  name(column: number): string {
    return this.#names[column] ?? '';
  }
}

export const CPU_COLUMN = 0;
export const MEMORY_COLUMN = 1;
