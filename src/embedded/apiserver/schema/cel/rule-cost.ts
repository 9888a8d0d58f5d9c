/**
 * Keeps rules from blocking the server with nested loops over long lists. kube-apiserver estimates costs when a rule is
 * written and counts them when it runs. Here only the nesting of loops and the size of collections count.
 */
import { isList, isObject } from '../json-object.ts';
import type { Json } from '../schema.ts';

/** Steps that run within about a second. */
const BUDGET = 10_000_000;

const LOOPS = 'all|exists|exists_one|existsOne|map|filter|transformList|transformMap|sortBy';
/** Operations that walk a list: `in` once (except over a literal list), set functions and `distinct` once per item. */
const WALKS: readonly (readonly [RegExp, number])[] = [
  [/^in$/, 1],
  [/^(?:sets\.|\.distinct)/, 2],
];
const TOKEN = new RegExp(
  `'(?:[^'\\\\]|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*"|\\.(?:${LOOPS})\\(|\\bin\\b(?!\\s*\\[)|\\bsets\\.\\w+|\\.distinct\\b|[()]`,
  'g',
);

/** How deep loops are nested in a rule: `self.all(x, self.exists(y, x == y))` is 2. */
export function loopDepth(rule: string): number {
  const open: boolean[] = [];
  let loops = 0;
  let deepest = 0;
  for (const [token] of rule.matchAll(TOKEN)) {
    if (token === '(') open.push(false);
    else if (token === ')') loops -= open.pop() === true ? 1 : 0;
    else if (token.endsWith('(')) {
      open.push(true);
      loops++;
    }
    const walk = WALKS.find(([pattern]) => pattern.test(token))?.[1] ?? 0;
    deepest = Math.max(deepest, loops + walk);
  }
  return deepest;
}

/** Whether a rule with loops of this depth would take too long on a value. */
export function isTooExpensive(depth: number, value: Json): boolean {
  return depth > 1 && largestCollection(value) ** depth > BUDGET;
}

function largestCollection(value: Json): number {
  const children = isList(value) ? value : isObject(value) ? Object.values(value) : [];
  return children.reduce<number>((largest, child) => Math.max(largest, largestCollection(child)), children.length);
}
