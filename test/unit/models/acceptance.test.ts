/** Every point of the design of spot GPUs for models has a test that carries its number. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const FOLDERS = ['src/state', 'src/app', 'src/controllers/provisioning', 'test/models', 'test/unit/models'];
const POINTS = 26;

function titles(): string[] {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
  );
  return files.flatMap((text) =>
    [...text.matchAll(/\b(?:it|describe)\(\s*(['"])(.*?)\1,/g)].map(([, , title]) => title ?? ''),
  );
}

/** `… (4, 20)` at the end of a title, or `4, 20: …` at its beginning. */
function numbersIn(title: string): number[] {
  const [, list = ''] = /^([\d, ]+):/.exec(title) ?? /\(([\d, ]+)\)$/.exec(title) ?? [];
  return list.split(',').map(Number);
}

describe('the points of the design', () => {
  it('each have a test', () => {
    const shown = new Set(titles().flatMap(numbersIn));
    const missing = Array.from({ length: POINTS }, (_, index) => index + 1).filter((point) => !shown.has(point));
    expect(missing).toEqual([]);
  });

  it('26: has a guide for a try by hand on EKS, whose manifests are examples that are tested', () => {
    const guide = readFileSync(join(ROOT, 'docs', 'models.md'), 'utf8');
    const [, section = ''] = guide.split('## Try it by hand on EKS');
    expect(section).toContain('helm install');
    expect(section).toContain('kubectl apply -f examples/models/eks.yaml');
    expect(readdirSync(join(ROOT, 'examples', 'models'))).toContain('eks.yaml');
  });
});
