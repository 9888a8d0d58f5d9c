/** docs/settings.md names options, values of the chart and defaults as they are. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LIVE_OPTIONS } from '../../src/app/live-options.ts';
import { RUN } from '../../src/cli/run.ts';
import { ROOT } from '../architecture/source-files.ts';
import { readSchema, type Schema } from '../chart/chart-files.ts';

const options = new Map(Object.values(RUN.options).map((option) => [option.flag, option]));
const live = new Set<string>(Object.values(LIVE_OPTIONS).map(({ flag }) => flag));
const rows = readFileSync(join(ROOT, 'docs', 'settings.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `--'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, flags = '', values = '', fallback = '', , , isLive = '']) => ({ flags, values, fallback, isLive }));

const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

function hasValue(path: string): boolean {
  let part: Schema | undefined = readSchema();
  for (const key of path.split('.')) part = part?.properties?.[key];
  return part !== undefined;
}

describe('the page about settings', () => {
  it.each(rows.map((row) => [row.flags, row] as const))(
    'is right about %s',
    (_, { flags, values, fallback, isLive }) => {
      const found = quoted(flags).map((flag) => options.get(flag.slice(2)) ?? expect.fail(`there is no ${flag}`));
      expect(quoted(values).filter((path) => !hasValue(path))).toEqual([]);
      expect(quoted(values).length).toBeGreaterThan(0);
      const shown = fallback.replaceAll('`', '').split(', ');
      for (const [index, { fallbackText }] of found.entries())
        if (fallbackText !== undefined) expect(shown[index]).toBe(fallbackText);
      expect(isLive).toBe(found.every(({ flag }) => live.has(flag)) ? 'yes' : 'no');
    },
  );

  it('has every setting that is live', () => {
    const named = rows.flatMap(({ flags }) => quoted(flags).map((flag) => flag.slice(2)));
    expect([...live].filter((flag) => !named.includes(flag))).toEqual([]);
  });
});
