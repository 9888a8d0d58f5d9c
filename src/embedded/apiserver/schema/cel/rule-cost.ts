/**
 * Keeps a rule from holding up the server: loops within loops over long lists. The API server estimates costs when a rule is
 * written and counts them when it runs; here the loops of a rule are counted once, and the sizes of what they run over.
 */
import { isList, isObject } from '../json-object.ts';
import type { Json } from '../schema.ts';

/** As many steps as end within about a second. */
const BUDGET = 10_000_000;

const LOOPS = 'all|exists|exists_one|existsOne|map|filter|transformList|transformMap|sortBy';
/** What goes through a list by itself: once (but for a list that is written out), or once for each of its items. */
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

/** Tells whether a rule with loops of that depth would take too long on a value. */
export function isTooExpensive(depth: number, value: Json): boolean {
  return depth > 1 && largestCollection(value) ** depth > BUDGET;
}

function largestCollection(value: Json): number {
  const children = isList(value) ? value : isObject(value) ? Object.values(value) : [];
  return children.reduce<number>((largest, child) => Math.max(largest, largestCollection(child)), children.length);
}
