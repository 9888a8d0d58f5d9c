import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../apis/kubernetes/object.ts';
import { ObjectCache } from './object-cache.ts';

const aThing = (name: string, labels: readonly string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, labels: Object.fromEntries(labels.map((label) => [label, ''])) },
});
const labelsOf = ({ metadata }: KubeObject): string[] => Object.keys(metadata.labels ?? {});

describe('the cache of objects', () => {
  it('finds by an index what a look at every object finds, whatever came, changed and went', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd');
    const labels = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'));
    const steps = fc.array(fc.tuple(names, fc.option(labels, { nil: undefined })), { maxLength: 30 });
    fc.assert(
      fc.property(steps, (changes) => {
        const cache = new ObjectCache({ label: labelsOf });
        for (const [name, wanted] of changes) {
          if (wanted === undefined) cache.delete(name);
          else cache.set(aThing(name, wanted));
          for (const label of ['x', 'y', 'z']) {
            const found = cache.byIndex('label', label);
            const there = cache.list().filter((thing) => labelsOf(thing).includes(label));
            expect(found).toHaveLength(there.length);
            expect(new Set(found)).toEqual(new Set(there));
          }
        }
      }),
    );
  });

  it('refuses an index that it does not have', () => {
    expect(() => new ObjectCache().byIndex('label', 'x')).toThrow('there is no index label');
  });
});
