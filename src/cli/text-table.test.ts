import { expect, it } from 'vitest';
import { textTable } from './text-table.ts';

it('a table has aligned columns, numbers to the right, and no blanks at the end of its lines', () => {
  expect(
    textTable(
      ['N', 'NAME', 'REST'],
      [
        ['10', 'a', ''],
        ['2', 'long', 'x'],
      ],
      [0],
    ),
  ).toBe([' N  NAME  REST', '10  a', ' 2  long  x'].join('\n'));
});
