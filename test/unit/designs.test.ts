/** docs/designs.md has every point of the five designs, and names only files and tests that exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';

/** How many points each design has, by the letter of its rows. */
const POINTS = { S: 31, R: 42, I: 31, C: 44, M: 26 } as const;
const NONE = '—';

interface Row {
  readonly id: string;
  readonly point: string;
  readonly where: string;
  readonly tests: string;
  readonly differs: string;
}

const rows = readFileSync(join(ROOT, 'docs', 'designs.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| [A-Z]\d+ \|/.test(line))
  .map((line): Row => {
    const [, id = '', point = '', where = '', tests = '', differs = ''] = line.split('|').map((cell) => cell.trim());
    return { id, point, where, tests, differs };
  });

/** `file`: “title”. */
function testsOf({ tests }: Row): { readonly file: string; readonly title: string }[] {
  return [...tests.matchAll(/`([^`]+)`: “([^”]+)”/g)].map(([, file = '', title = '']) => ({ file, title }));
}

/** As it is written in the source, in any kind of quotation marks. */
function hasTitle(text: string, title: string): boolean {
  const escaped = title.replaceAll("'", "\\'");
  return [`'${escaped}'`, `\`${title}\``, `"${title}"`].some((quoted) => text.includes(quoted));
}

describe('the page about the designs', () => {
  it.each(Object.entries(POINTS))('has a row for each point of design %s', (letter, count) => {
    const numbers = rows.filter(({ id }) => id.startsWith(letter)).map(({ id }) => id);
    expect(numbers).toEqual(Array.from({ length: count }, (_, index) => `${letter}${index + 1}`));
  });

  it.each(rows.map((row) => [row.id, row.point, row] as const))('%s is where it says: %s', (_id, _point, row) => {
    if (row.where === NONE || row.tests === NONE) {
      // What was not built has a reason, and neither a place nor a test.
      expect([row.where, row.tests]).toEqual([NONE, NONE]);
      expect(row.differs).not.toBe('');
      return;
    }
    const files = [...row.where.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    const tests = testsOf(row);
    expect(tests.length).toBeGreaterThan(0);
    for (const { file, title } of tests) {
      expect(existsSync(join(ROOT, file)), file).toBe(true);
      expect(hasTitle(readFileSync(join(ROOT, file), 'utf8'), title), `${file}: ${title}`).toBe(true);
    }
  });
});
