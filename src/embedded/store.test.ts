import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../apis/kubernetes/object.ts';
import { namespaceRange, Store } from './store.ts';

function thing(name: string, namespace?: string, more: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name, ...(namespace && { namespace }) }, ...more };
}

describe('Store', () => {
  it('counts every write of every collection with one counter', () => {
    const store = new Store();
    const first = store.put('things', thing('a'));
    const second = store.put('others', thing('a'));
    const gone = store.remove('things', 'a');
    expect([first, second, gone].map((object) => object?.metadata.resourceVersion)).toEqual(['1', '2', '3']);
    expect(store.revision).toBe(3);
  });

  it('freezes what it keeps all the way down, and leaves what it was given alone', () => {
    const given = thing('a', undefined, { spec: { list: [{ deep: true }], absent: undefined } });
    const kept = new Store().put('things', given) as KubeObject & { spec: { list: object[] } };
    expect(Object.isFrozen(kept.spec.list[0])).toBe(true);
    expect(Object.isFrozen((given as typeof kept).spec)).toBe(false);
    expect('absent' in kept.spec).toBe(false);
  });

  it('shares with the state before what a write does not change', () => {
    const store = new Store();
    const before = store.put('things', thing('a', undefined, { spec: { a: 1 } })) as KubeObject & { spec: object };
    const after = store.put('things', {
      ...before,
      metadata: { ...before.metadata, labels: { x: 'y' } },
    }) as typeof before;
    expect(after.spec).toBe(before.spec);
  });

  it('gives the keys of one namespace only, whatever others are called', () => {
    const store = new Store();
    for (const namespace of ['a', 'a-b', 'a.b', 'a0', 'ab']) store.put('things', thing('x', namespace));
    const { keys } = store.snapshot('things');
    expect(keys.slice(...namespaceRange(keys, 'a'))).toEqual(['a/x']);
    expect(keys.slice(...namespaceRange(keys, 'a-b'))).toEqual(['a-b/x']);
  });

  it('remembers as many events as it was told, and says from where on', () => {
    const store = new Store({ rememberedEvents: 10 });
    for (let index = 0; index < 100; index++) store.put(index % 2 === 0 ? 'things' : 'others', thing(`${index}`));
    const oldest = store.oldestRevision('things');
    expect(store.revision - oldest).toBeGreaterThanOrEqual(10);
    expect(oldest).toBeGreaterThan(80);
    const log = store.log('things');
    expect(log.at(log.positionAfter(oldest))?.revision).toBeGreaterThan(oldest);
    expect(log.at(0)).toBeUndefined();
  });

  it('forgets nothing of a quiet collection because others are busy', () => {
    const store = new Store({ rememberedEvents: 10 });
    store.put('quiet', thing('a'));
    const before = store.revision;
    for (let index = 0; index < 100; index++) store.put('busy', thing(`${index}`));
    expect(store.oldestRevision('quiet')).toBeLessThanOrEqual(before);
    store.put('quiet', thing('b'));
    expect(store.log('quiet').at(store.log('quiet').positionAfter(before))?.key).toBe('b');
  });

  it('shows every state that it remembers as it was', () => {
    const write = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), remove: fc.boolean() });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 40 }), (writes) => {
        const store = new Store();
        const states: Map<string, string>[] = [new Map()];
        for (const { key, remove } of writes) {
          const before = store.revision;
          if (remove) store.remove('things', key);
          else store.put('things', thing(key));
          const state = new Map(states.at(-1));
          if (store.revision > before) {
            if (remove) state.delete(key);
            else state.set(key, String(store.revision));
            states.push(state);
          }
        }
        for (const [revision, state] of states.entries()) {
          const { keys, get } = store.snapshot('things', revision);
          const seen = keys.flatMap((key): [string, string][] => {
            const object = get(key);
            return object === undefined ? [] : [[key, object.metadata.resourceVersion ?? '']];
          });
          expect(seen).toEqual([...state].sort());
        }
      }),
    );
  });
});
