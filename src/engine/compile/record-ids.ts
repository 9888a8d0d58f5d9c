/** Records of strings and numbers, numbered by what is in them. */
import { Interner } from './interner.ts';

/** Numbers records (with the name of whose they are) so that equal ones have equal numbers, in whatever order they list their keys. */
export class RecordIds {
  readonly #root: Branch = { id: -1, next: undefined };
  readonly #texts = new Interner();

  /** Each record as a text, by number. */
  get texts(): readonly string[] {
    return this.#texts.names;
  }

  /** The number of a record. The texts of two records are only compared the first time that either is seen. */
  id(owner: string, values: Readonly<Record<string, string | number>>): number {
    let branch = follow(this.#root, owner);
    for (const key in values) branch = follow(follow(branch, key), values[key] as string | number);
    if (branch.id < 0) branch.id = this.#texts.id(`${owner}|${textOf(values)}|`);
    return branch.id;
  }
}

/** The way through a record, key by key and value by value. */
interface Branch {
  id: number;
  next: Map<string | number, Branch> | undefined;
}

function follow(from: Branch, step: string | number): Branch {
  from.next ??= new Map();
  let branch = from.next.get(step);
  if (branch === undefined) {
    branch = { id: -1, next: undefined };
    from.next.set(step, branch);
  }
  return branch;
}

/** A record as a text, whatever the order of its keys. */
export function textOf(values: Readonly<Record<string, string | number>>): string {
  let text = '';
  for (const key of Object.keys(values).sort()) text += `${key}=${values[key]};`;
  return text;
}
