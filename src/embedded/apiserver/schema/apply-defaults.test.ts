import { describe, expect, it } from 'vitest';
import { applyDefaults, fillDefaults } from './apply-defaults.ts';
import type { Schema } from './schema.ts';

const schema: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'n' },
    maybe: { type: 'string', nullable: true, default: 'm' },
    plain: { type: 'string' },
    inner: { type: 'object', default: {}, properties: { size: { type: 'integer', default: 3 } } },
    list: { type: 'array', items: { type: 'object', properties: { port: { type: 'integer', default: 80 } } } },
    map: { type: 'object', additionalProperties: { type: 'string', default: 'd' } },
  },
};

describe('defaults', () => {
  it('fill in what is not there, and what a default brings with it', () => {
    expect(applyDefaults({ list: [{}, { port: 1 }] }, schema)).toEqual({
      name: 'n',
      maybe: 'm',
      inner: { size: 3 },
      list: [{ port: 80 }, { port: 1 }],
    });
  });

  it('take the place of a null that is not allowed, and leave one that is', () => {
    const object = { name: null, maybe: null, plain: null, map: { a: null, b: 'x' } };
    expect(applyDefaults(object, schema)).toEqual({
      name: 'n',
      maybe: null,
      map: { a: 'd', b: 'x' },
      inner: { size: 3 },
    });
  });

  it('change neither the object nor the schema, and give back the object that needs none', () => {
    const object = Object.freeze({ name: 'a', maybe: 'b', inner: Object.freeze({ size: 1 }) });
    expect(applyDefaults(object, schema)).toBe(object);
    const first = applyDefaults({}, schema);
    expect(applyDefaults({}, schema)).toEqual(first);
    expect(schema.properties?.inner?.default).toEqual({});
  });

  it('are the same when filled in on a read of what was complete before', () => {
    const stored = applyDefaults({ list: [{}], map: { a: 'x' } }, { ...schema, properties: {} });
    expect(fillDefaults(stored, schema)).toEqual(applyDefaults(stored, schema));
    const complete = applyDefaults(stored, schema);
    expect(fillDefaults(complete, schema)).toBe(complete);
  });
});
