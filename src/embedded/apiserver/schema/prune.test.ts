import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prune } from './prune.ts';
import type { Json, JsonObject, Schema } from './schema.ts';

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        known: { type: 'string' },
        list: { type: 'array', items: { type: 'object', properties: { known: { type: 'string' } } } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { known: { type: 'string' } } } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) freeze(child);
  return Object.freeze(value);
};

describe('pruning', () => {
  it('names every field it drops by its path', () => {
    const object = {
      spec: { known: 'a', x: 1, list: [{ y: 1 }, { known: 'b', z: { w: 1 } }], map: { k: { v: 1 } } },
      top: 1,
    };
    const { object: pruned, unknown } = prune(freeze(object), schema);
    expect(unknown).toEqual(['spec.list[0].y', 'spec.list[1].z', 'spec.map.k.v', 'spec.x', 'top']);
    expect(pruned).toEqual({ spec: { known: 'a', list: [{}, { known: 'b' }], map: { k: {} } } });
  });

  it('gives the very same object back when there is nothing to drop', () => {
    const object = { apiVersion: 'v1', kind: 'K', metadata: { name: 'a' }, spec: { known: 'a', free: { any: [1] } } };
    expect(prune(object, schema).object).toBe(object);
  });

  it('shares what did not change', () => {
    const object = { spec: { free: { a: 1 }, x: 1 } };
    const pruned = prune(object, schema).object as { spec: JsonObject };
    expect(pruned.spec.free).toBe(object.spec.free);
  });

  it('treats names of JavaScript as names', () => {
    const object = JSON.parse(
      '{"__proto__":{"a":1},"spec":{"constructor":1,"__proto__":2,"map":{"__proto__":{"known":"a"}}}}',
    );
    const { object: pruned, unknown } = prune(object, schema);
    expect(unknown).toEqual(['__proto__', 'spec.__proto__', 'spec.constructor']);
    expect(JSON.stringify(pruned)).toBe('{"spec":{"map":{"__proto__":{"known":"a"}}}}');
    expect(Object.getPrototypeOf(pruned)).toBe(Object.prototype);
  });

  it('drops a nest of any depth that it does not know', () => {
    let deep: Json = 1;
    for (let depth = 0; depth < 50_000; depth++) deep = { a: deep };
    expect(prune({ deep }, schema).unknown).toEqual(['deep']);
  });

  it('has nothing left to drop the second time', () => {
    const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
    const objects = fc.dictionary(fc.constantFrom('spec', 'known', 'list', 'map', 'free', '__proto__', 'x'), json);
    fc.assert(
      fc.property(fc.record({ spec: objects, other: json }), (object) => {
        const once = prune(freeze(object) as JsonObject, schema);
        const twice = prune(once.object, schema);
        expect(twice.unknown).toEqual([]);
        expect(twice.object).toBe(once.object);
      }),
    );
  });
});
