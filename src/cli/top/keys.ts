/** The action of a key. */
export type Wish = { readonly kind: 'quit' } | { readonly kind: 'scroll'; readonly by: number };

const PAGE = 10;

const WISHES: Readonly<Record<string, Wish>> = {
  q: { kind: 'quit' },
  Q: { kind: 'quit' },
  '\x03': { kind: 'quit' },
  '\x1b': { kind: 'quit' },
  '\x1b[A': { kind: 'scroll', by: -1 },
  '\x1b[B': { kind: 'scroll', by: 1 },
  k: { kind: 'scroll', by: -1 },
  j: { kind: 'scroll', by: 1 },
  '\x1b[5~': { kind: 'scroll', by: -PAGE },
  '\x1b[6~': { kind: 'scroll', by: PAGE },
  ' ': { kind: 'scroll', by: PAGE },
};

/** Decodes the input of a terminal; undefined for other keys. */
export function wishOf(input: string): Wish | undefined {
  return WISHES[input];
}
