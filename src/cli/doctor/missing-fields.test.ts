import { expect, it } from 'vitest';
import type { JsonSchema } from '../../apis/schema/json-schema.ts';
import { missingFields } from './missing-fields.ts';

const text: JsonSchema = { type: 'string' };
const OURS: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: text,
        list: { type: 'array', items: { type: 'object', properties: { key: text, value: text } } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { x: text } } },
      },
    },
  },
};

it('names every field that is not there, in lists and maps too', () => {
  const theirs: JsonSchema = {
    properties: {
      spec: {
        properties: { list: { items: { properties: { key: text } } }, map: { additionalProperties: {} }, more: text },
      },
    },
  };
  expect(missingFields(OURS, theirs)).toEqual(['spec.a', 'spec.list[].value', 'spec.map.*.x']);
});

it('finds nothing missing where all is there, or everything is kept', () => {
  expect(missingFields(OURS, OURS)).toEqual([]);
  expect(missingFields(OURS, { 'x-kubernetes-preserve-unknown-fields': true })).toEqual([]);
});
