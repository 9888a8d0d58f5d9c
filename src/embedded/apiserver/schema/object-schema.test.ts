import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldError } from './field-error.ts';
import { ObjectSchema } from './object-schema.ts';
import type { JsonObject, Schema } from './schema.ts';

interface Row {
  readonly name: string;
  readonly object: JsonObject;
  readonly old?: JsonObject;
  readonly unknown?: readonly string[];
  /** The API server's answer: the object without metadata and status, or the causes. */
  readonly result?: JsonObject;
  readonly causes?: readonly FieldError[];
}

/** Recorded on a real kube-apiserver, with our own definition and objects. */
const recorded = JSON.parse(readFileSync(new URL('testdata/gadgets.json', import.meta.url), 'utf8')) as {
  readonly schema: Schema;
  readonly rows: readonly Row[];
};

const inOrder = (errors: readonly FieldError[]): FieldError[] => {
  const unique = new Map(errors.map((error) => [JSON.stringify([error.reason, error.field, error.message]), error]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, error]) => error);
};

describe('an object of a custom resource', () => {
  const schema = new ObjectSchema(recorded.schema);
  const prepare = (object: JsonObject): JsonObject => schema.applyDefaults(schema.prune(object).object);

  it.each(recorded.rows.map((row) => [row.name, row] as const))(
    'meets what kube-apiserver did with it: %s',
    (_, row) => {
      const pruned = schema.prune(row.object);
      // A new object has no status if status is a subresource.
      const { status: _status, ...object } = schema.applyDefaults(pruned.object);
      const errors = schema.validate(object, row.old && prepare(row.old));
      expect(inOrder(errors)).toEqual(inOrder(row.causes ?? []));
      if (row.causes !== undefined) return;
      const { metadata: _metadata, ...rest } = object;
      expect(rest).toEqual(row.result);
      if (row.old === undefined) expect(pruned.unknown).toEqual(row.unknown ?? []);
    },
  );

  it('is looked up by path where a patch needs to know how a list is merged', () => {
    expect(schema.at(['spec', 'map'])).toMatchObject({ 'x-kubernetes-list-map-keys': ['n', 'p'] });
    expect(schema.at(['spec', 'labels', 'any-key'])).toMatchObject({ type: 'string' });
    expect(schema.at(['spec', 'constructor'])).toBeUndefined();
  });
});

describe('an object that nobody would write', () => {
  const schema = new ObjectSchema(recorded.schema);
  const names = Object.keys(recorded.schema.properties?.spec?.properties ?? {});
  const values = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom('2020-01-01T00:00:00Z', '1h', '5%', 'https://a/b', '1Gi', -0, 1e300),
  );
  const specs = fc.oneof(fc.dictionary(fc.constantFrom(...names, '__proto__', 'constructor'), values), values);
  const objects = fc.record({ metadata: fc.oneof(fc.record({ name: fc.string() }), values), spec: specs });

  it('is judged, not stumbled over, as a new one and as a change of another', () => {
    fc.assert(
      fc.property(objects, objects, (given, before) => {
        const [object, old] = [given, before].map((each) =>
          schema.applyDefaults(schema.prune(each as unknown as JsonObject).object),
        ) as [JsonObject, JsonObject];
        for (const error of [...schema.validate(object), ...schema.validate(object, old)]) {
          expect(error.message).not.toContain('undefined');
        }
        // Applying defaults twice changes nothing.
        expect(schema.applyDefaults(object)).toBe(object);
      }),
    );
  });
});

describe('ratcheting', () => {
  const strict: Schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer', maximum: 5 },
          name: { type: 'string', 'x-kubernetes-validations': [{ rule: "self != 'old'", message: 'is old' }] },
          list: { type: 'array', items: { type: 'integer', maximum: 5 } },
          other: { type: 'string' },
        },
      },
    },
  };
  const schema = new ObjectSchema(strict);

  it('lets an update keep values that were allowed when they were written', () => {
    const old = { spec: { size: 9, name: 'old', list: [9], other: 'a' } };
    expect(schema.validate({ spec: { ...old.spec, other: 'b' } }, old)).toEqual([]);
    expect(schema.validate(old)).toHaveLength(3);
  });

  it('does not let an update change one wrong value to another', () => {
    const old = { spec: { size: 9, list: [9] } };
    const errors = schema.validate({ spec: { size: 8, list: [9, 8] } }, old);
    expect(errors.map((error) => error.field)).toEqual(['spec.size', 'spec.list[0]', 'spec.list[1]']);
  });
});
