import { describe, expect, it } from 'vitest';
import { codeOnly, type SourceFile, sourceFiles } from './source-files.ts';

/** What makes a run differ from the next; all of it comes in through platform/ (time, chance, environment, exit). */
const FORBIDDEN: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Date', /\bnew Date\b|\bDate\s*\.|\bDate\(/],
  ['performance.now', /\bperformance\s*\./],
  ['Math.random', /\bMath\s*\.\s*random\b/],
  ['crypto randomness', /\brandomUUID\b|\brandomBytes\b|\brandomInt\b|\bgetRandomValues\b/],
  ['a timer', /\b(?:setTimeout|setInterval|setImmediate|clearTimeout|clearInterval)\b|\bAbortSignal\s*\.\s*timeout\b/],
  ['process.env', /\bprocess\s*\.\s*env\b/],
  ['process.exit', /\bprocess\s*\.\s*exit\b/],
];

/** The composition of the program: the only file besides platform/ that may touch the process it runs in. */
const ENTRY = 'src/cli/main.ts';

function impurities(file: SourceFile): string[] {
  const code = codeOnly(file.text);
  return FORBIDDEN.filter(([, pattern]) => pattern.test(code)).map(([name]) => `${file.path} uses ${name}`);
}

describe('time, chance and the process', () => {
  it('are touched only in platform/ and in the command-line entry', () => {
    const files = sourceFiles('src').filter((file) => !file.path.startsWith('src/platform/') && file.path !== ENTRY);
    expect(files.flatMap(impurities)).toEqual([]);
  });

  it('would be caught elsewhere, but not in a comment or a string', () => {
    const text = ['const now = Date.now();', '// Date.now() is forbidden', "const name = 'setTimeout';"].join('\n');
    expect(impurities({ path: 'src/kube/x.ts', text })).toEqual(['src/kube/x.ts uses Date']);
  });
});
