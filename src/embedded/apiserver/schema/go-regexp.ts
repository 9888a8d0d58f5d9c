/** Regular expressions in Go's syntax (RE2), run by JavaScript's engine. */

const cache = new Map<string, RegExp | undefined>();

const POSIX: Readonly<Record<string, string>> = {
  alnum: 'a-zA-Z0-9',
  alpha: 'a-zA-Z',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\s',
  word: '\\w',
  xdigit: '0-9a-fA-F',
};

/** The compiled expression, from a cache; undefined if Go would reject it. */
export function goRegExp(pattern: string): RegExp | undefined {
  if (!cache.has(pattern)) {
    // Bounded, because users write the patterns in definitions and rules.
    if (cache.size >= 2000) cache.clear();
    cache.set(pattern, compile(pattern));
  }
  return cache.get(pattern);
}

function compile(pattern: string): RegExp | undefined {
  let flags = 'u';
  const leading = /^\(\?([imsU]+)\)/.exec(pattern);
  const body = leading === null ? pattern : pattern.slice(leading[0].length);
  for (const flag of leading?.[1] ?? '') if (flag !== 'U') flags += flag;
  try {
    return new RegExp(translate(body), flags);
  } catch {
    return undefined;
  }
}

/** Translates syntax that differs: named groups, classes, text anchors, and needless escapes, which JavaScript rejects. */
function translate(pattern: string): string {
  return pattern
    .replace(/\[\[:(\^?)(\w+):\]\]/g, (_, not: string, name: string) => `[${not}${POSIX[name] ?? ''}]`)
    .replace(/\[:(\w+):\]/g, (_, name: string) => POSIX[name] ?? '')
    .replace(/\(\?P</g, '(?<')
    .replace(/\\([\s\S])/g, (whole, char: string) => {
      if (char === 'A') return '^';
      if (char === 'z') return '$';
      if (char === 'a') return '\\x07';
      return /[A-Za-z0-9^$\\.*+?()[\]{}|/-]/.test(char) ? whole : char;
    })
    .replace(/(\[[^\]\\]*(?:\\.[^\]\\]*)*\])|\\-/g, (whole, group: string | undefined) =>
      group === undefined ? '-' : whole,
    )
    .replace(/\\p([A-Z])/g, '\\p{$1}')
    .replace(/\\P([A-Z])/g, '\\P{$1}');
}
