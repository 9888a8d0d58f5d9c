/** Every number of the acceptance table for spot machines (7.1, 44 lines) is carried by the title of a test. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../../architecture/source-files.ts';

const FOLDERS = ['src/cloud/cluster-api', 'test/unit/cloud/cluster-api', 'test/machines'];
const LINES = 44;
/** `17, 23, 37` and `33 to 36`, at the start of a title, after a semicolon in it, or alone. */
const NUMBERS = /(?:['`]|; )(\d+(?:(?:, | to )\d+)*)(?:: |')/g;

function numbersIn(text: string): readonly number[] {
  return [...text.matchAll(NUMBERS)].flatMap(([, list = '']) =>
    list.split(', ').flatMap((part) => {
      const [from = 0, to = from] = part.split(' to ').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    }),
  );
}

it('has a test for each of its lines', () => {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => join(ROOT, folder, file)),
  );
  const titles = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => /\b(it|describe)\b|const numbers/.test(line)),
  );
  const carried = new Set(titles.flatMap(numbersIn));
  const missing = Array.from({ length: LINES }, (_, index) => index + 1).filter((number) => !carried.has(number));
  expect(missing).toEqual([]);
});
