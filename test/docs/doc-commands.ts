/** The commands that the documents tell readers to type. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../architecture/source-files.ts';

export interface DocCommand {
  /** From the root of the repository. */
  readonly page: string;
  /** One command, without its comment and line breaks. */
  readonly text: string;
  readonly words: readonly string[];
  /** Stands in a block that a test runs: the line before it is `<!-- run: spindrift up -->`. */
  readonly runs: boolean;
}

/** All pages for users. */
export function pages(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  return [
    'README.md',
    'CONTRIBUTING.md',
    ...docs.filter((path) => path.endsWith('.md')).map((path) => `docs/${path}`),
  ].sort();
}

/** Every command of a page's `sh` blocks. */
export function blockCommands(page: string): DocCommand[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const blocks = text.matchAll(/(<!-- run: spindrift up -->\n)?^```sh\n([\s\S]*?)^```/gm);
  return [...blocks].flatMap(([, marked, block = '']) =>
    block
      .replaceAll(/\\\n\s*/g, ' ')
      .split('\n')
      .flatMap((line) => commandOf(page, line, marked !== undefined)),
  );
}

/** Commands of `spindrift` in the running text and in tables. */
export function inlineCommands(page: string): DocCommand[] {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/`(spindrift [a-z][^`]*)`/g)].flatMap(([, command = '']) => commandOf(page, command, false));
}

function commandOf(page: string, line: string, runs: boolean): DocCommand[] {
  const text = line.replace(/(?:^|\s+)#\s.*$/, '').trim();
  return text === '' ? [] : [{ page, text, words: wordsOf(text), runs }];
}

/** As a shell splits it: quotation marks keep words together. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
  );
}
