import { describe, expect, it } from 'vitest';
import { Screen } from './screen.ts';

function terminal(rows = 3) {
  const written: string[] = [];
  return { columns: 80, rows, written, write: (text: string) => written.push(text) };
}

const moved = (row: number, line: string): string => `\x1b[${row};1H${line}\x1b[K`;

describe('a screen', () => {
  it('writes only lines that have changed', () => {
    const output = terminal();
    const screen = new Screen(output);
    screen.draw(['a', 'b']);
    screen.draw(['a', 'c']);
    screen.draw(['a', 'c']);
    expect(output.written).toEqual([
      `\x1b[?2026h${moved(1, 'a')}${moved(2, 'b')}\x1b[?2026l`,
      `\x1b[?2026h${moved(2, 'c')}\x1b[?2026l`,
    ]);
  });

  it('wipes lines that are gone', () => {
    const output = terminal();
    const screen = new Screen(output);
    screen.draw(['a', 'b']);
    screen.draw(['a']);
    expect(output.written.at(-1)).toContain(moved(2, ''));
  });

  it('leaves out what has no room', () => {
    const output = terminal(1);
    new Screen(output).draw(['a', 'b']);
    expect(output.written.join()).not.toContain('b');
  });

  it('draws everything again when its size has changed', () => {
    const output = terminal();
    const screen = new Screen(output);
    screen.draw(['a']);
    screen.resized();
    screen.draw(['a']);
    expect(output.written.filter((text) => text.includes(moved(1, 'a')))).toHaveLength(2);
  });

  it('gives the terminal back as it was', () => {
    const output = terminal();
    const screen = new Screen(output);
    screen.enter();
    screen.leave();
    expect(output.written.join('')).toMatch(/\?1049h.*\?25l.*\?25h.*\?1049l/s);
  });
});
