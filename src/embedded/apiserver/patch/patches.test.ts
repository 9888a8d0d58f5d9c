import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frozenCopy } from '../../frozen.ts';
import { builtInSchema } from '../schema/builtin/built-in-schema.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

describe('applyMergePatch', () => {
  it('follows the examples of RFC 7386', () => {
    const cases: [unknown, unknown, unknown][] = [
      [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
      [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
      [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
      [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
      [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
      [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
      [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
      [
        ['a', 'b'],
        ['c', 'd'],
        ['c', 'd'],
      ],
      [{ a: 'b' }, ['c'], ['c']],
      [{ e: null }, { a: 1 }, { e: null, a: 1 }],
      [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    ];
    for (const [target, patch, result] of cases) expect(applyMergePatch(target, patch)).toEqual(result);
  });

  it('shares what the patch does not name and changes nothing in place', () => {
    const target = frozenCopy({ kept: { deep: 1 }, changed: { a: 1, b: { c: 2 } } });
    const result = applyMergePatch(target, { changed: { a: 2 } }) as typeof target;
    expect(result.kept).toBe(target.kept);
    expect(result.changed.b).toBe(target.changed.b);
    expect(target.changed.a).toBe(1);
  });

  it('gives the patch itself when there was nothing, without its nulls', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (patch) => {
        const once = applyMergePatch({}, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
      }),
    );
  });
});

describe('applyJsonPatch', () => {
  const target = frozenCopy({ metadata: { labels: { 'a/b': '1', 'c~d': '2' } }, list: [1, 2, 3], other: { x: {} } });

  it('carries out operations on a frozen object and shares the rest', () => {
    const result = applyJsonPatch(target, [
      { op: 'replace', path: '/metadata/labels/a~1b', value: '9' },
      { op: 'remove', path: '/metadata/labels/c~0d' },
      { op: 'add', path: '/list/-', value: 4 },
      { op: 'add', path: '/list/0', value: 0 },
      { op: 'move', from: '/list/1', path: '/moved' },
      { op: 'copy', from: '/other/x', path: '/copied' },
      { op: 'test', path: '/list', value: [0, 2, 3, 4] },
    ]) as typeof target & { moved: number; copied: object };
    expect(result).toEqual({
      metadata: { labels: { 'a/b': '9' } },
      list: [0, 2, 3, 4],
      other: { x: {} },
      moved: 1,
      copied: {},
    });
    expect(result.other.x).toBe(target.other.x);
    expect(target.list).toEqual([1, 2, 3]);
  });

  it('refuses with 422 what does not fit', () => {
    const refused: object[] = [
      { op: 'remove', path: '/absent' },
      { op: 'replace', path: '/absent/deep', value: 1 },
      { op: 'test', path: '/list/0', value: 2 },
      { op: 'add', path: '/list/9', value: 1 },
      { op: 'move', path: '/x' },
      { op: 'frobnicate', path: '/list' },
      { op: 'add', path: 'list', value: 1 },
      { op: 'copy', from: '/absent', path: '/x' },
    ];
    for (const operation of refused) {
      expect(() => applyJsonPatch(target, [operation as never]), JSON.stringify(operation)).toThrow(
        'the server rejected our request due to an error in our request',
      );
    }
  });
});

describe('applyStrategicMergePatch', () => {
  const schema = builtInSchema('v1', 'Pod');
  const pod = frozenCopy({
    metadata: { finalizers: ['a', 'b'], labels: { x: 'y' } },
    spec: {
      containers: [
        { name: 'one', image: 'one:1', args: ['a', 'b'], ports: [{ containerPort: 80, protocol: 'TCP' }] },
        { name: 'two', image: 'two:1' },
      ],
      tolerations: [{ key: 'a' }],
      nodeSelector: { zone: 'a' },
      volumes: [{ name: 'data', emptyDir: {} }],
    },
  });
  const patched = (patch: object): typeof pod => applyStrategicMergePatch(pod, patch, schema) as typeof pod;

  it('merges lists of things that have a key, and replaces all others', () => {
    const { spec } = patched({
      spec: {
        containers: [
          { name: 'two', image: 'two:2' },
          { name: 'three', image: 'three:1' },
        ],
        tolerations: [{ key: 'b' }],
      },
    });
    expect(spec.containers.map(({ image }) => image)).toEqual(['one:1', 'two:2', 'three:1']);
    expect(spec.containers[0]).toBe(pod.spec.containers[0]);
    expect(spec.tolerations).toEqual([{ key: 'b' }]);
    const { args } = patched({ spec: { containers: [{ name: 'one', args: ['c'] }] } }).spec.containers[0]!;
    expect(args).toEqual(['c']);
  });

  it('deletes and replaces items by directive', () => {
    const { spec } = patched({
      spec: {
        containers: [
          { name: 'one', $patch: 'delete' },
          { name: 'two', image: 'two:9', $patch: 'replace' },
        ],
      },
    });
    expect(spec.containers).toEqual([{ name: 'two', image: 'two:9' }]);
    expect(patched({ spec: { containers: [{ $patch: 'replace' }, { name: 'new' }] } }).spec.containers).toEqual([
      { name: 'new' },
    ]);
    expect(patched({ spec: { nodeSelector: { $patch: 'replace', disk: 'ssd' } } }).spec.nodeSelector).toEqual({
      disk: 'ssd',
    });
    expect(patched({ spec: { nodeSelector: null } }).spec).not.toHaveProperty('nodeSelector');
  });

  it('adds to and takes from lists of plain values', () => {
    expect(patched({ metadata: { finalizers: ['c', 'a'] } }).metadata.finalizers).toEqual(['a', 'b', 'c']);
    expect(patched({ metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } }).metadata.finalizers).toEqual(['b']);
  });

  it('puts items in the order that the patch asks for', () => {
    const { spec } = patched({
      spec: {
        '$setElementOrder/containers': [{ name: 'two' }, { name: 'one' }],
        containers: [{ name: 'two', image: 'two:2' }],
      },
    });
    expect(spec.containers.map(({ name }) => name)).toEqual(['two', 'one']);
    const only = patched({ spec: { '$setElementOrder/containers': [{ name: 'two' }, { name: 'one' }] } });
    expect(only.spec.containers.map(({ name }) => name)).toEqual(['two', 'one']);
  });

  it('keeps of a union only the keys that the patch names', () => {
    const { volumes } = patched({
      spec: { volumes: [{ name: 'data', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] },
    }).spec;
    expect(volumes).toEqual([{ name: 'data', hostPath: { path: '/x' } }]);
  });

  it('refuses an item without its key, and a directive that it does not know', () => {
    expect(() => patched({ spec: { containers: [{ image: 'x' }] } })).toThrow(
      'does not contain declared merge key: name',
    );
    expect(() => patched({ spec: { $patch: 'frobnicate' } })).toThrow('unknown $patch type: frobnicate');
  });
});
