import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, type SourceFile, sourceFiles } from './source-files.ts';

/** For each room of src/, the rooms it may import from. A room that is not here may not exist. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  apis: ['platform'],
  engine: ['apis', 'platform'],
  kube: ['apis', 'platform'],
  cloud: ['kube', 'engine', 'apis', 'platform'],
  state: ['cloud', 'kube', 'engine', 'apis', 'platform'],
  controllers: ['state', 'cloud', 'kube', 'engine', 'apis', 'platform'],
  dashboard: ['controllers', 'state', 'cloud', 'kube', 'engine', 'apis', 'platform'],
  agent: ['state', 'cloud', 'kube', 'engine', 'apis', 'platform'],
  // A cluster of its own beside the autoscaler: it must not know what runs on it.
  embedded: ['kube', 'apis', 'platform'],
  app: ['embedded', 'agent', 'dashboard', 'controllers', 'state', 'cloud', 'kube', 'engine', 'apis', 'platform'],
  cli: ['app', 'embedded', 'agent', 'dashboard', 'controllers', 'state', 'cloud', 'kube', 'engine', 'apis', 'platform'],
};

const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

function roomOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1];
}

function upwardImports(file: SourceFile): string[] {
  const room = roomOf(file.path);
  if (room === undefined) return [];
  return [...file.text.matchAll(IMPORT)]
    .map((match) => normalize(join(dirname(file.path), match[1] as string)).replaceAll('\\', '/'))
    .filter((target) => {
      const targetRoom = roomOf(target);
      return targetRoom !== room && !(targetRoom !== undefined && MAY_IMPORT[room]?.includes(targetRoom));
    })
    .map((target) => `${file.path} imports ${target}`);
}

describe('the rooms of src/', () => {
  const files = sourceFiles('src');

  it('are the ones the design names', () => {
    const rooms = new Set(files.map((file) => roomOf(file.path)).filter((room) => room !== undefined));
    expect([...rooms].filter((room) => !(room in MAY_IMPORT))).toEqual([]);
  });

  it('import only downwards', () => {
    expect(files.flatMap(upwardImports)).toEqual([]);
  });

  it('would be caught importing upwards', () => {
    const text = "import { x } from '../kube/client.ts';\nconst y = await import('../../test/z.ts');";
    expect(upwardImports({ path: 'src/engine/solve.ts', text })).toHaveLength(2);
  });

  it('hold no drawer for odds and ends', () => {
    const drawers = /(^|\/)(utils?|helpers?|common|misc)(\.|\/)/;
    const all = ['src', 'test', 'scripts'].flatMap((folder) => sourceFiles(folder));
    expect(all.map((file) => file.path).filter((path) => drawers.test(path))).toEqual([]);
    expect(ROOT).not.toBe('');
  });
});
