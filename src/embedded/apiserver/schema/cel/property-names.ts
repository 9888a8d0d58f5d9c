/** Property names as CEL identifiers: a rule refers to `my-key` as `self.my__dash__key`. */

const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** The identifier of a property; undefined if rules cannot refer to it. */
export function celName(property: string): string | undefined {
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(property)) return undefined;
  if (RESERVED.has(property)) return `__${property}__`;
  return property.replace(/__|[./-]/g, (part) => ESCAPES[part] as string);
}
