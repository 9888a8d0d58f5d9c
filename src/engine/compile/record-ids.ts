/** Numbers records of strings and numbers by their contents. */
import { Interner } from './interner.ts';

/** Gives equal records (with the name of their owner) equal numbers, whatever the order of their keys. */
export class RecordIds {
  readonly #root: Branch = { id: -1, next: undefined };
  readonly #texts = new Interner();

  /** Each record as a text, by number. */
  get texts(): readonly string[] {
    return this.#texts.names;
  }

  /** The number of a record. Its text is only built the first time its keys and values appear in this order. */
  id(owner: string, values: Readonly<Record<string, string | number>>): number {
    let branch = follow(this.#root, owner);
    for (const key in values) branch = follow(follow(branch, key), values[key] as string | number);
    if (branch.id < 0) branch.id = this.#texts.id(`${owner}|${textOf(values)}|`);
    return branch.id;
  }
}

/** A node of the tree of records, key by key and value by value. */
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

/** A record as text, independent of the order of its keys. */
export function textOf(values: Readonly<Record<string, string | number>>): string {
  let text = '';
  for (const key of Object.keys(values).sort()) text += `${key}=${values[key]};`;
  return text;
}
